/** A key that cannot act says so: at the edge of a lane or a list, without a card, and without a connection. */
import { expect, PREFIX_MS, test } from "./fleet";

test("moving beyond the last card or column is refused, and a held key says it once", async ({
  fleet,
  page,
}) => {
  const one = await fleet.start("one");
  const two = await fleet.start("two");
  await fleet.open();
  for (const id of [one, two]) await expect(fleet.cardIn("Running", id)).toBeVisible();
  await page.keyboard.press("j");
  const first = page.locator("[data-lane=running] [data-card]").first();
  const last = page.locator("[data-lane=running] [data-card]").last();
  await expect(first).toBeFocused();
  for (const [key, name, why] of [
    ["k", "k", "no card above this one"],
    ["ArrowUp", "↑", "no card above this one"],
    ["h", "h", "no card to the left"],
    ["ArrowLeft", "←", "no card to the left"],
    ["l", "l", "no card to the right"],
    ["ArrowRight", "→", "no card to the right"],
  ] as const) {
    await page.keyboard.press(key);
    await expect(fleet.refusal()).toContainText(`${name} did nothing: ${why}`);
    await expect(first).toBeFocused();
  }
  await page.keyboard.press("j");
  await expect(last).toBeFocused();
  await expect(fleet.refusal()).toHaveCount(0);
  await page.keyboard.down("j");
  await expect(fleet.refusal()).toContainText("j did nothing: no card below this one");
  const said = await fleet.refusal().elementHandle();
  for (let held = 0; held < 3; held++) await page.keyboard.down("j");
  expect(await said?.evaluate((note) => note.isConnected)).toBe(true);
  await page.keyboard.up("j");
});

test("without a card j, g n, g r, g d and Enter say what is missing", async ({ fleet, page }) => {
  await fleet.open();
  await page.keyboard.press("j");
  await expect(fleet.refusal()).toContainText("j did nothing: no card is shown");
  for (const [key, why] of [
    ["n", "nothing needs you"],
    ["r", "nothing is running"],
    ["d", "nothing is done"],
  ] as const) {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    await expect(fleet.refusal()).toContainText(`g ${key} did nothing: ${why}`);
  }
  await page.keyboard.press("Enter");
  await expect(fleet.refusal()).toContainText("↵ did nothing: no card is selected");
  const id = await fleet.start("one");
  await expect(fleet.cardIn("Running", id)).toBeVisible();
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await expect(fleet.card(id)).toBeFocused();
  await expect(fleet.refusal()).toHaveCount(0);
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await expect(fleet.refusal()).toContainText("g r did nothing: it is selected already");
});

test("g r leads from the log to the board, and opens the session in the drawer", async ({ fleet, page }) => {
  const id = await fleet.start("one");
  const other = await fleet.start("two");
  await fleet.hook(other, "Stop", { last_assistant_message: "Done." });
  await fleet.open("#/log");
  // The log is shown before the board is known to the page.
  await expect(page.locator("header")).toContainText("Running1");
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await expect(page).toHaveURL(/#\/$/);
  await expect(fleet.card(id)).toBeFocused();
  await page.goto(`${fleet.server.url}#/session/${other}`);
  await expect(page.locator(`[data-drawer="${other}"]`)).toBeVisible();
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await expect(page.locator(`[data-drawer="${id}"]`)).toBeVisible();
});

test("the rows of the log and of the overview end visibly", async ({ fleet, page }) => {
  await fleet.start("one");
  for (const [view, row] of [
    ["log", ".log-row"],
    ["overview", ".row-name"],
  ] as const) {
    await fleet.open(`#/${view}`);
    await expect(page.locator(row)).toHaveCount(1);
    await page.keyboard.press("Enter");
    await expect(fleet.refusal()).toContainText("↵ did nothing: no row is selected");
    await page.keyboard.press("j");
    await expect(page.locator(row)).toBeFocused();
    await page.keyboard.press("j");
    await expect(fleet.refusal()).toContainText("j did nothing: no row below this one");
    await page.keyboard.press("k");
    await expect(fleet.refusal()).toContainText("k did nothing: no row above this one");
  }
});

test("parking is refused without a connection, and the selection and the picks stay", async ({
  fleet,
  page,
  daemonProxy,
}) => {
  const ids: string[] = [];
  for (const name of ["one", "two", "three"]) {
    const id = await fleet.start(name);
    ids.push(id);
    await fleet.hook(id, "Stop", { last_assistant_message: "Done." });
  }
  await fleet.open("", daemonProxy.url);
  for (const id of ids) await expect(fleet.cardIn("Needs You", id)).toBeVisible();
  const [parked = "", one = "", two = ""] = ids;
  await fleet.select(parked);
  await page.keyboard.press("p");
  await page.keyboard.press("h");
  await expect(page.getByRole("button", { name: /^Parked 1/ })).toBeVisible();
  await page.getByRole("button", { name: /^Parked 1/ }).click();
  await expect(fleet.card(parked)).toBeVisible();
  daemonProxy.cut();
  await expect(page.locator("[data-connection=lost]")).toBeAttached();
  for (const id of [one, parked]) {
    await fleet.select(id);
    await page.keyboard.press("p");
    await expect(fleet.refusal()).toContainText("p did nothing: not connected");
    await page.keyboard.press("e");
    await expect(fleet.card(id)).toBeFocused();
  }
  await fleet.select(one);
  await page.keyboard.press("x");
  await fleet.select(two);
  await page.keyboard.press("x");
  await page.keyboard.press("p");
  await expect(fleet.refusal()).toContainText("p did nothing: not connected");
  await expect(page.locator("[data-picked]")).toHaveCount(2);
});

test("a connection that is lost between p and the next key is refused too", async ({
  fleet,
  page,
  daemonProxy,
}) => {
  await fleet.disableTimer(PREFIX_MS);
  const id = await fleet.start("one");
  await fleet.hook(id, "Stop", { last_assistant_message: "Done." });
  await fleet.open("", daemonProxy.url);
  await expect(fleet.cardIn("Needs You", id)).toBeVisible();
  await fleet.select(id);
  await page.keyboard.press("p");
  daemonProxy.cut();
  await expect(page.locator("[data-connection=lost]")).toBeAttached();
  // A key of the right time, however long the page took to notice the loss.
  await page.evaluate(() => {
    const event = new KeyboardEvent("keydown", { key: "h", bubbles: true, cancelable: true });
    Object.defineProperty(event, "timeStamp", { value: 0 });
    document.activeElement?.dispatchEvent(event);
  });
  await expect(fleet.refusal()).toContainText("p h did nothing: not connected");
  await expect(fleet.card(id)).toBeFocused();
});
