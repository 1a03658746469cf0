/**
 * Takes the screenshots in docs/pictures from the simulated fleet: `npm run pictures`. pngquant makes them
 * smaller.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Session } from "../src/generated/Session";
import { expect, test } from "./fleet";

const out = fileURLToPath(new URL("../../docs/pictures/", import.meta.url));

type Picture = {
  name: string;
  scheme?: "light";
  size?: [number, number];
  scale?: number;
  hash?: (sessions: Session[]) => string;
  shows: string;
};

/** The session with the most agents, turns and to-dos. */
const richestSession = (sessions: Session[]) =>
  sessions.toSorted(
    (a, b) =>
      b.sub_agents.length * 3 +
      b.turn_count +
      b.progress_items.length -
      (a.sub_agents.length * 3 + a.turn_count + a.progress_items.length),
  )[0]?.id;

const PICTURES: Picture[] = [
  { name: "board-dark", shows: "[data-card]" },
  { name: "board-light", scheme: "light", shows: "[data-card]" },
  { name: "drawer-dark", hash: (sessions) => `#/session/${richestSession(sessions)}`, shows: ".ev" },
  { name: "overview-dark", hash: () => "#/overview", shows: ".seg" },
  { name: "phone-dark", size: [390, 844], scale: 2, shows: "[data-card]" },
];

for (const {
  name,
  scheme = "dark",
  size: [width, height] = [1600, 1000],
  scale = 1,
  hash,
  shows,
} of PICTURES) {
  test.describe(name, () => {
    test.use({
      fleetKind: "demo",
      viewport: { width, height },
      deviceScaleFactor: scale,
      colorScheme: scheme,
    });

    test(name, async ({ fleet, page }) => {
      await page.emulateMedia({ reducedMotion: "reduce" });
      await fleet.open(hash?.(await fleet.sessions()) ?? "");
      await expect(page.locator(shows).first()).toBeVisible();
      await page.waitForTimeout(2_000);
      // No card is moving.
      await fleet.waitForAnimations();
      const path = `${out}${name}.png`;
      await page.screenshot({ path });
      try {
        execFileSync("pngquant", [
          "--force",
          "--skip-if-larger",
          "--output",
          path,
          "--quality",
          "60-95",
          "256",
          path,
        ]);
      } catch {
        console.log("pngquant is not installed or could not help: the picture stays large");
      }
    });
  });
}
