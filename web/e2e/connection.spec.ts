/** The connection to the daemon: cut, restarted, crashed, with a gap. The page reports it and recovers. */
import { allow, expect, test } from "./fleet";

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

/** How long the daemon stands still. */
const STOPPED_MS = 20_000;

test("a daemon that stands still is noticed within five seconds, and the page recovers by itself", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const id = await fleet.start();
  void fleet.ask(id, "Bash", { command: "make" });
  const card = fleet.cardIn("Needs You", id);
  await expect(allow(card)).toBeVisible();
  await fleet.waitForKeys();
  await fleet.select(id);
  fleet.server.signal("SIGSTOP");
  const stopped = Date.now();
  const banner = page.locator(".lost-banner[role=alert]");
  await expect(banner).toBeVisible({ timeout: 20_000 });
  const noticedMs = Date.now() - stopped;
  console.log(`the stopped daemon was noticed after ${noticedMs} ms`);
  await expect(banner).toContainText(/since \d\d:\d\d:\d\d/);
  // Nothing can be sent, and a key says so.
  await expect(allow(card)).toBeDisabled();
  await page.keyboard.press("y");
  await expect(fleet.refusal()).toContainText("not connected");
  // Timers stand still.
  const timer = card.locator(".since time").first();
  const shown = await timer.textContent();
  await page.waitForTimeout(2_200);
  expect(await timer.textContent()).toBe(shown);
  // The banner stays while the page tries again in vain.
  await page.waitForTimeout(Math.max(0, STOPPED_MS - (Date.now() - stopped)));
  await expect(banner).toBeVisible();
  fleet.server.signal("SIGCONT");
  await expect(banner).toHaveCount(0, { timeout: 20_000 });
  await expect(page.locator("[data-connection=live]")).toBeVisible();
  await expect(allow(card)).toBeEnabled();
  await expect.poll(() => timer.textContent()).not.toBe(shown);
  // Heartbeats come every second, and the page says it after 3.5 s of silence.
  expect(noticedMs).toBeLessThan(5_000);
});

test.describe("at phone width", () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test("a lost connection is told too, and typed text is kept", async ({ fleet, page, daemonProxy }) => {
    await fleet.open("", daemonProxy.url);
    const id = await fleet.start();
    void fleet.ask(id, "Bash", { command: "make" });
    const card = fleet.cardIn("Needs You", id);
    await card.getByRole("button", { name: "More ways to answer" }).click();
    await page.getByRole("button", { name: "Deny with message…" }).click();
    await page.getByLabel("Why not, and what instead").fill("use just");
    daemonProxy.cut();
    await expect(page.locator(".lost-banner")).toBeVisible();
    await expect(card).toContainText("Your text is kept. It was not sent.");
    await expect(page.getByLabel("Why not, and what instead")).toHaveValue("use just");
    const box = await page.locator(".lost-banner").boundingBox();
    expect(box?.width).toBe(390);
  });
});

test("text for an ask that was answered in the terminal is kept, with what happened", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const id = await fleet.start();
  void fleet.ask(id, "Bash", { command: "make" });
  const card = fleet.card(id);
  await expect(allow(card)).toBeVisible();
  await fleet.waitForKeys();
  await fleet.select(id);
  await page.keyboard.press("D");
  await expect(page.getByLabel("Why not, and what instead")).toBeFocused();
  await page.keyboard.type("please use just");
  await fleet.hook(id, "PostToolUse", {
    tool_name: "Bash",
    tool_input: { command: "make" },
    tool_use_id: `toolu_${id}`,
  });
  await expect(card.locator(".kept-text")).toContainText("Answered in terminal");
  await expect(card.locator(".kept-words")).toHaveText("please use just");
  // The rest of the sentence was meant for the field, so it answers nothing and moves nothing.
  await page.keyboard.press("d");
  await expect(fleet.refusal()).toContainText("the field you typed in was closed");
  await card.getByRole("button", { name: "Dismiss" }).click();
  await expect(card.locator(".kept-text")).toHaveCount(0);
});
