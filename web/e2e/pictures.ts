/**
 * Takes the screenshots in docs/pictures from the simulated fleet: `npm run pictures`. pngquant makes them
 * smaller.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Session } from "../src/generated/Session";
import { postHook } from "./daemon";
import { expect, test } from "./fleet";
import { HostFleet, hasNats } from "./hosts";
import { servePage } from "./servePage";

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

/** What each machine of the picture works on. */
const MACHINES: [string, { hub?: boolean; more?: string }, [string, string, string?][]][] = [
  [
    "desk",
    { hub: true },
    [
      ["billing-api", "Make clippy pass with the new lints"],
      ["ledger-web", "Keyboard path through the filter"],
    ],
  ],
  [
    "build-1",
    {},
    [
      ["ingest", "Profile the writer", "go tool pprof -top -nodecount=40 cpu.out"],
      ["billing-api", "Invoice numbers without gaps"],
      ["infra", "Check every topic against the registry"],
    ],
  ],
  ["build-2", {}, [["infra", "Peer the two networks", "terraform plan -target=module.peering"]]],
  ["dev-api", { more: 'share = "no_payloads"\n' }, [["billing-api", "Rounding", "cargo test -p billing"]]],
];

test("hosts-dark", async ({ page }) => {
  test.skip(!hasNats(), "nats-server is not installed");
  const fleet = await new HostFleet().start();
  try {
    let hub = "";
    for (const [name, options, sessions] of MACHINES) {
      const { url } = await fleet.host(name, options);
      hub ||= url;
      for (const [n, [project, prompt, command]] of sessions.entries()) {
        const base = { session_id: `${name}-${n}`, cwd: `/work/${project}` };
        await postHook(url, { ...base, hook_event_name: "UserPromptSubmit", prompt });
        if (!command) continue;
        const call = { ...base, tool_name: "Bash", tool_use_id: "t", tool_input: { command } };
        await postHook(url, { ...call, hook_event_name: "PreToolUse" });
        const held = { "x-flightdeck-hold": "1" };
        postHook(url, { ...call, hook_event_name: "PermissionRequest" }, held).catch(() => undefined);
      }
    }
    await servePage(page);
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.setViewportSize({ width: 1600, height: 800 });
    await page.goto(hub);
    await expect(page.locator('[data-card="dev-api-0@dev-api"]')).toBeVisible();
    await page.getByRole("button", { name: "Grouped by project" }).click();
    await page.getByText("Grouped by host", { exact: true }).click();
    await expect(page.locator(".group-head", { hasText: "build-2" })).toBeVisible();
    await page.waitForTimeout(2_000);
    await page.screenshot({ path: `${out}hosts-dark.png` });
  } finally {
    await fleet.stop();
  }
});
