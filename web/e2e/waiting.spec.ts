/** What waits for the person: what Claude said, needs apart from idleness, parked sessions, one number. */
import { allow, expect, test } from "./fleet";

test("a waiting card shows the end of the last message, and a question is marked", async ({ fleet }) => {
  await fleet.open();
  const asks = await fleet.start("one");
  const long = "The first sentence of a long message. ".repeat(30);
  await fleet.hook(asks, "Stop", { last_assistant_message: `${long}Both pass. **Drop it now?**` });
  const done = await fleet.start("two");
  await fleet.hook(done, "Stop", { last_assistant_message: "Docs and changelog are updated." });
  const card = fleet.cardIn("Needs You", asks);
  await expect(card.locator(".state")).toHaveText(/Asks you/);
  await expect(card.locator(".last-said b")).toHaveText("Drop it now?");
  await expect(card.locator(".last-said b")).toBeVisible();
  // The end is inside the visible box, however narrow the lane is.
  const [box, end] = [
    await card.locator(".last-said").boundingBox(),
    await card.locator(".last-said b").boundingBox(),
  ];
  expect(end!.y + end!.height).toBeLessThanOrEqual(box!.y + box!.height + 1);
  expect(box!.height).toBeLessThanOrEqual(3 * 17 + 1);
  const other = fleet.cardIn("Needs You", done);
  await expect(other.locator(".state")).toHaveText(/Finished/);
  await expect(other.locator(".last-said")).toHaveText("Docs and changelog are updated.");
  await expect(other.locator(".last-said b")).toHaveCount(0);
});

test("a blocked card in compact density shows the last sentence from its beginning", async ({
  fleet,
  page,
}) => {
  await page.addInitScript(() => localStorage.setItem("flightdeck.density", '"compact"'));
  await fleet.open();
  const id = await fleet.start("one");
  const message = `${"A sentence before the last. ".repeat(8)}Borrowing instead gives 12 us.`;
  await fleet.hook(id, "Stop", { last_assistant_message: message });
  await fleet.block(id, "make");
  const said = fleet.cardIn("Needs You", id).locator(".last-said");
  await expect(said.locator(".lead")).toBeHidden();
  await expect(said).toContainText("Borrowing instead gives 12 us.");
  expect((await said.boundingBox())!.height).toBeLessThanOrEqual(17 + 1);
});

test("header, tab, icon and column show one number: what blocks or asks", async ({ fleet, page }) => {
  await fleet.open();
  const ids = [];
  for (const name of ["blocked", "asks", "failed", "interrupted", "idle"]) ids.push(await fleet.start(name));
  const [blocked, asks, failed, interrupted, idle] = ids as [string, string, string, string, string];
  await fleet.block(blocked, "make");
  await fleet.hook(asks, "Stop", { last_assistant_message: "Shall I?" });
  await fleet.hook(failed, "StopFailure", { error: "rate_limit" });
  const sleep = { tool_name: "Bash", tool_input: { command: "sleep 9" }, tool_use_id: "t" };
  await fleet.hook(interrupted, "PreToolUse", sleep);
  await fleet.hook(interrupted, "PostToolUseFailure", { ...sleep, is_interrupt: true, error: "x" });
  await fleet.hook(idle, "Stop", { last_assistant_message: "Done." });
  const need = page.locator(".instrument.need");
  await expect(need.locator(".readout")).toHaveText("2");
  await expect(need).toContainText("1 blocked, 1 asks, longest");
  await expect(page.locator(".no-hurry")).toHaveText("1 failed, 1 interrupted1 idle");
  await expect(page).toHaveTitle("(2) Flightdeck");
  await expect(page.locator("link[rel=icon]")).toHaveAttribute("href", /F2B33D.*%3E2%3C/);
  await expect(fleet.column("Needs You").locator(".column-head .count")).toHaveText("2");
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(page.getByRole("navigation", { name: "Columns" }).locator(".count").first()).toHaveText("2");
});

test("an idle session is parked by key until its next event, folded, counted and found by search", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const id = await fleet.start("Tidy the parquet files");
  await fleet.hook(id, "Stop", { last_assistant_message: "Done." });
  const other = await fleet.start("other");
  await fleet.hook(other, "Stop", { last_assistant_message: "Done too." });
  await expect(fleet.cardIn("Needs You", id)).toBeVisible();
  await expect(fleet.cardIn("Needs You", other)).toBeVisible();
  await fleet.select(id);
  await page.keyboard.press("p");
  await expect(page.locator(".key-list")).toContainText("until its next event");
  await page.keyboard.press("e");
  await expect(fleet.card(id)).toHaveCount(0);
  const head = page.getByRole("button", { name: /^Parked 1/ });
  await expect(head).toContainText("until an event 1");
  await expect(page.locator(".no-hurry")).toContainText("1 parked");
  expect((await fleet.sessions()).find((s) => s.id === id)?.parked).toMatchObject({ until: null });
  // The parked card is findable: by search, and by unfolding.
  await page.locator("#search").fill("parquet");
  await expect(fleet.card(id)).toBeVisible();
  await page.locator("#search").fill("");
  await expect(fleet.card(id)).toHaveCount(0);
  await head.click();
  await expect(fleet.card(id)).toBeVisible();
  // The next event of the session ends its parking.
  await fleet.hook(id, "UserPromptSubmit", { prompt: "more" });
  await fleet.hook(id, "Stop", { last_assistant_message: "Done again." });
  await expect(head).toHaveCount(0);
  await expect(fleet.cardIn("Needs You", id)).toBeVisible();
  expect((await fleet.sessions()).find((s) => s.id === id)?.parked).toBeNull();
});

test("a blocked session cannot be parked, and an hour ends by the daemon's clock", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const blocked = await fleet.start("blocked");
  await fleet.block(blocked, "make");
  await expect(fleet.cardIn("Needs You", blocked)).toBeVisible();
  await fleet.select(blocked);
  await page.keyboard.press("p");
  await expect(fleet.refusal()).toContainText("only an idle session can be parked");
  const park = (id: string, body: unknown) =>
    fetch(`${fleet.server.url}api/sessions/${id}/park`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  expect((await park(blocked, {})).status).toBe(409);
  const idle = await fleet.start("idle");
  await fleet.hook(idle, "Stop");
  expect((await park(idle, { until: new Date(Date.now() + 1_500).toISOString() })).status).toBe(200);
  await expect(page.getByRole("button", { name: /^Parked 1/ })).toContainText("next back");
  await expect(fleet.cardIn("Needs You", idle)).toBeVisible();
});

test("a click anywhere on a card that is not a control opens it", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start();
  await fleet.hook(id, "Stop", { last_assistant_message: "Done. Have a look." });
  const card = fleet.cardIn("Needs You", id);
  await expect(card).toBeVisible();
  await fleet.waitForKeys();
  await card.locator(".last-said").click();
  await expect(page.locator(`[data-drawer="${id}"]`)).toBeVisible();
  await page.keyboard.press("Escape");
  // The command of an ask is no control either.
  const asks = await fleet.start();
  void fleet.ask(asks, "Bash", { command: "make" });
  await expect(allow(fleet.cardIn("Needs You", asks))).toBeVisible();
  await fleet.waitForKeys();
  await fleet.card(asks).locator(".cmd").click();
  await expect(page.locator(`[data-drawer="${asks}"]`)).toBeVisible();
});

test("the chip of a failed tool call fades once the agent went on", async ({ fleet }) => {
  await fleet.open();
  const id = await fleet.start();
  const call = { tool_name: "Bash", tool_input: { command: "make" }, tool_use_id: "t" };
  await fleet.hook(id, "PreToolUse", call);
  await fleet.hook(id, "PostToolUseFailure", { ...call, error: "exit 1" });
  await expect(fleet.card(id).locator(".chip.fail")).toContainText("Failed: Bash, exit 1");
  await fleet.hook(id, "PreToolUse", { ...call, tool_use_id: "t2" });
  await expect(fleet.card(id).locator(".chip.past")).toContainText("Failed: Bash, exit 1");
  await expect(fleet.card(id).locator(".chip.fail")).toHaveCount(0);
});
