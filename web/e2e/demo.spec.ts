/** The demo: its sessions can be answered on their cards. */
import type { Ask } from "../src/generated/Ask";
import type { Session } from "../src/generated/Session";
import { expect, test } from "./fleet";
import { usage } from "./usageFixtures";

test.use({ fleetKind: "demo", sessions: 54 });

/** The ask of a session that waits only for one permission without caution: one press answers it. */
function simple(session: Session): Ask | undefined {
  const [ask, ...more] = session.asks.filter(({ resolution }) => !resolution);
  return more.length === 0 && ask?.kind === "permission" && ask.answerable && !ask.caution ? ask : undefined;
}

test("the header says that the fleet is simulated, not that hooks are off", async ({ fleet, page }) => {
  await fleet.open();
  const fleetStatus = page.locator("[data-hooks=simulated]");
  await expect(fleetStatus).toContainText("Simulated, last event");
  await expect(fleetStatus).not.toContainText("Hooks");
  await expect(fleetStatus).toHaveAttribute("title", /no hooks are registered, on purpose/);
});

test("Allow on a card of the demo lets its session continue", async ({ fleet, page }) => {
  await fleet.open();
  const tried = new Set<string>();
  // The simulated terminal may answer first; then the next ask is tried.
  await expect(async () => {
    const found = (await fleet.sessions()).map(simple).find((ask) => ask && !tried.has(ask.id));
    expect(found).toBeDefined();
    const { id: ask, session_id: id } = found!;
    tried.add(ask);
    // One card may stand for several sessions that ask for the same.
    await fleet
      .column("Needs You")
      .locator(`[data-card="${id}"], .bunch:has(a[href*="${id}"])`)
      .getByRole("button", { name: "Allow", exact: false })
      .first()
      .click({ timeout: 2_000 });
    const resolution = async () =>
      (await (await fetch(`${fleet.server.url}api/asks/${ask}`)).json()).resolution;
    await expect.poll(resolution).not.toBeNull();
    expect(await resolution()).toMatchObject({ how: "allowed", by: "web" });
    await page.mouse.move(5, 5);
    await expect(fleet.cardIn("Running", id)).toBeVisible();
  }).toPass({ timeout: 40_000, intervals: [100] });
});

test.describe("the demo's numbers", () => {
  test.use({ sessions: 24 });

  test("its sessions have numbers: on the cards, in the header, and as charts in the drawer", async ({
    fleet,
    page,
  }) => {
    let session: Session | undefined;
    const costly = async () =>
      (session = (await fleet.sessions()).find(
        (s) => s.agent_state.group !== "done" && s.turn_count > 2 && (s.cost?.usd_micros ?? 0) > 100_000,
      ));
    await expect.poll(costly).toBeTruthy();
    await expect.poll(async () => (await usage(fleet.server)).today.usd_micros).toBeGreaterThan(0);
    expect(session!.cost!.unpriced_models).toEqual([]);
    expect(session!.git_branch).toBeTruthy();
    await fleet.open(`#/session/${session!.id}`);
    const drawer = page.locator("[data-drawer]");
    await expect(drawer.getByRole("img", { name: /^Context over time: .* tokens now/ })).toBeVisible();
    await expect(drawer.getByRole("img", { name: /^Cost over time: \$/ })).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(page.getByRole("button", { name: /Spend today/ })).toContainText(/\$\d/);
    await expect(page.locator("section.column .metrics .ctx").first()).toBeVisible();
  });
});
