//! The demo is there to be tried: what its sessions ask is answered on their cards.
import type { Ask } from "../src/generated/Ask";
import type { Session } from "../src/generated/Session";
import { expect, test } from "./fleet";

test.use({ ground: "demo", sessions: 54 });

/** All that it waits for, if that is one permission that can be undone: one press on the card is enough. */
function simple(session: Session): Ask | undefined {
  const [ask, ...more] = session.asks.filter(({ resolution }) => !resolution);
  return more.length === 0 && ask?.kind === "permission" && ask.answerable && !ask.caution ? ask : undefined;
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
    const found = (await fleet.sessions()).map(simple).find((ask) => ask && !tried.has(ask.id));
    expect(found).toBeDefined();
    const { id: ask, session_id: id } = found!;
    tried.add(ask);
    await fleet.cardIn("Needs You", id).getByRole("button", { name: "Allow", exact: false }).first().click({ timeout: 2_000 });
    const told = async () => (await (await fetch(`${fleet.server.url}api/asks/${ask}`)).json()).resolution;
    await expect.poll(told).not.toBeNull();
    expect(await told()).toMatchObject({ how: "allowed", by: "web" });
    await page.mouse.move(5, 5);
    await expect(fleet.cardIn("Running", id)).toBeVisible();
  }).toPass({ timeout: 40_000, intervals: [100] });
});
