/** The connection to the daemon: cut, restarted, crashed, with a gap. The page reports it and recovers. */
import { expect, test } from "./fleet";

test("a lost connection resumes by id without missing changes", async ({ fleet, page, daemonProxy }) => {
  await fleet.open("", daemonProxy.url);
  const id = await fleet.start("before");
  await expect(fleet.card(id)).toBeVisible();
  daemonProxy.cut();
  await expect(page.locator("[data-connection=lost]")).toContainText(
    /Not connected, trying again in \d:\d\d/,
  );
  // The countdown is hidden from screen readers, which would read it every second.
  await expect(page.locator("[data-connection=lost] [role=status] [aria-hidden=true] time")).toBeAttached();
  await expect(page).toHaveTitle(/not connected/);
  await fleet.hook(id, "Stop");
  const missed = await fleet.start("came meanwhile");
  const { boot } = await fleet.board();
  daemonProxy.restore();
  await expect(page.locator("[data-connection=live]")).toBeVisible({ timeout: 20_000 });
  await expect(fleet.cardIn("Needs You", id)).toBeVisible();
  await expect(fleet.cardIn("Running", missed)).toBeVisible();
  expect(daemonProxy.resumedFrom.at(-1)).toMatch(new RegExp(`^${boot}-\\d+$`));
});

for (const signal of ["SIGTERM", "SIGKILL"] as const) {
  test(`after a restart (${signal}) the same board returns and continues`, async ({
    fleet,
    page,
    daemonProxy,
  }) => {
    await fleet.open("", daemonProxy.url);
    const blocked = await fleet.start("one");
    await fleet.block(blocked, "make");
    const running = await fleet.start("two");
    await expect(fleet.cardIn("Needs You", blocked)).toBeVisible();
    await fleet.server.end(signal);
    await expect(page.locator("[data-connection=lost]")).toContainText("Not connected");
    await expect(fleet.cardIn("Needs You", blocked)).toBeVisible();
    await fleet.server.start();
    await expect(page.locator("[data-connection=live]")).toBeVisible({ timeout: 20_000 });
    await expect(fleet.cardIn("Needs You", blocked)).toHaveAttribute("data-state", "needs_permission");
    await fleet.hook(running, "Stop");
    await expect(fleet.cardIn("Needs You", running)).toBeVisible();
    await expect(page.locator("[data-card]")).toHaveCount((await fleet.sessions()).length);
  });
}

test("after a gap the next snapshot replaces the board", async ({ fleet, page, daemonProxy }) => {
  await fleet.open("", daemonProxy.url);
  const id = await fleet.start("known");
  await expect(fleet.card(id)).toBeVisible();
  daemonProxy.cut();
  await expect(page.locator("[data-connection=lost]")).toBeAttached();
  await fleet.hook(id, "SessionEnd", { reason: "other" });
  const other = await fleet.start("came meanwhile");
  // As if the page had missed more changes than the daemon keeps.
  daemonProxy.fakeLastEventId = "another-boot-7";
  daemonProxy.restore();
  await expect(page.locator("[data-connection=live]")).toBeVisible({ timeout: 20_000 });
  expect(daemonProxy.resumedFrom.at(-1)).toBe("another-boot-7");
  await expect(fleet.cardIn("Done", id)).toBeVisible();
  await expect(fleet.cardIn("Running", other)).toBeVisible();
});

test("a card that leaves Done leaves the page", async ({ fleet, page }) => {
  await fleet.server.end();
  fleet.server.configure("done_minutes = 0");
  await fleet.server.start();
  await fleet.open();
  const id = await fleet.start("short");
  const other = await fleet.start("long");
  await expect(fleet.card(id)).toBeVisible();
  await fleet.hook(id, "SessionEnd", { reason: "other" });
  await expect(fleet.card(id)).toHaveCount(0);
  await expect(fleet.card(other)).toBeVisible();
  await expect(page.locator("[data-connection=live]")).toBeVisible();
});
