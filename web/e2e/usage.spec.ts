/** Spend and rate limits: in the header, and in the dialog by hour, day, project and model. */
import { expect, type Fleet, test } from "./fleet";
import { reportLimits, waitForUsage, writeSpend } from "./usageFixtures";

/** Writes spend and returns the hour of the last two dollars. */
async function worked(fleet: Fleet): Promise<string> {
  const now = Date.now();
  writeSpend(
    fleet.server,
    "api",
    "s1",
    [
      [0, 2],
      [3, 1],
      [30, 3],
    ],
    now,
  );
  writeSpend(
    fleet.server,
    "web",
    "s2",
    [
      [1, 1],
      [100, 13],
    ],
    now,
  );
  reportLimits(fleet.server, await fleet.start(), 72, 88);
  await waitForUsage(fleet.server, 20);
  return new Date(now).toLocaleTimeString("en-GB", { hour: "2-digit" });
}

test("at 1400 pixels the header has room for everything from hour bars to connection", async ({
  fleet,
  page,
}) => {
  await page.setViewportSize({ width: 1400, height: 900 });
  await worked(fleet);
  await fleet.open();
  const header = page.getByRole("group", { name: "Fleet" });
  const bars = header.getByRole("img", { name: "Spend per hour, last 12 hours" });
  await expect(bars).toBeVisible();
  await expect(bars.locator("rect")).toHaveCount(12);
  await expect(header).toContainText(/Spend today\$\d/);
  await expect(header.getByRole("button", { name: /Rate limits/ })).toContainText(
    /5 h72%resets \d\d:\d\d.*Week88%resets \w{3}/,
  );
  const limits = header.getByRole("button", { name: /Rate limits/ });
  const connection = page.locator("[data-connection=live]");
  const [spark, numbers, last] = await Promise.all(
    [bars, limits, connection].map((part) => part.boundingBox()),
  );
  expect(spark!.width).toBeGreaterThanOrEqual(28);
  expect(numbers!.x + numbers!.width).toBeLessThanOrEqual(last!.x);
  expect(last!.x + last!.width).toBeLessThanOrEqual(1400);
});

test("a press on the spend opens the usage by hour, day, project and model", async ({ fleet, page }) => {
  const hour = await worked(fleet);
  await fleet.open();
  await page.getByRole("button", { name: /Spend today/ }).click();
  const dialog = page.getByRole("dialog", { name: "Usage" });
  await expect(dialog.getByRole("region", { name: "Rate limits" })).toContainText("88%");
  const hours = dialog.getByRole("region", { name: "Today" }).getByRole("listitem");
  await expect.poll(() => hours.count()).toBeGreaterThanOrEqual(12);
  await expect(hours.filter({ hasText: `${hour}:00: ` })).toContainText("$2.00");
  const week = dialog.getByRole("region", { name: "Last 7 days" });
  await expect(week).toContainText("$20.00");
  await expect(week.getByRole("listitem")).toHaveCount(7);
  await expect(dialog.getByRole("region", { name: "By project" })).toContainText(
    /web70%\$14\.00.*api30%\$6\.00/,
  );
  await expect(dialog.getByRole("region", { name: "By model" })).toContainText("Opus 5.5100%$20.00");
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
});

test("on a phone the usage is found in the palette", async ({ fleet, page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await worked(fleet);
  await fleet.open();
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByRole("combobox").fill("usage");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Usage" });
  await expect(dialog).toContainText("$20.00");
  const { x, width } = (await dialog.boundingBox())!;
  expect(x).toBeGreaterThanOrEqual(0);
  expect(x + width).toBeLessThanOrEqual(390);
  await dialog.getByRole("button", { name: "Close" }).click();
  await expect(dialog).toHaveCount(0);
});
