//! The demo is there to be tried: what its sessions ask is answered on their cards.
import type { Session } from "../src/generated/Session";
import { expect, test } from "./fleet";

test.use({ ground: "demo", sessions: 54 });

/** Waits for nothing but this one permission, and can be undone: one press on the card is enough. */
function simple(session: Session): boolean {
  const open = session.asks.filter((ask) => !ask.resolution);
  return open.length === 1 && open.every((ask) => ask.kind === "permission" && ask.answerable && !ask.caution);
}

test("the header says that the fleet is simulated, not that hooks are off", async ({ fleet, page }) => {
  await fleet.open();
  const said = page.locator("[data-hooks=simulated]");
  await expect(said).toContainText("Simulated, last event");
  await expect(said).not.toContainText("Hooks");
  await expect(said).toHaveAttribute("title", /no hooks are registered, on purpose/);
});

test("Allow on a card of the demo, and its session runs on", async ({ fleet, page }) => {
  await fleet.open();
  const tried = new Set<string>();
  // A terminal of the demo may be quicker; then the next one is tried.
  await expect(async () => {
    const session = (await fleet.sessions()).find((s) => simple(s) && !tried.has(s.id));
    expect(session).toBeDefined();
    const { id, asks } = session!;
    tried.add(id);
    const ask = asks.find((a) => !a.resolution)!.id;
    await fleet.cardIn("Needs You", id).getByRole("button", { name: "Allow", exact: false }).first().click({ timeout: 2_000 });
    const told = async () => (await (await fetch(`${fleet.server.url}api/asks/${ask}`)).json()).resolution;
    await expect.poll(told, { timeout: 2_000 }).toMatchObject({ how: "allowed", by: "web" });
    await page.mouse.move(5, 5);
    await expect(fleet.cardIn("Running", id)).toBeVisible();
  }).toPass({ timeout: 40_000, intervals: [100] });
});
