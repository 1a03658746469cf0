/** The overview: one row per session. */
import { expect, test } from "./fleet";

test.describe("overview", () => {
  test.use({ fleetKind: "demo", sessions: 24 });

  test("every session is a row, and a span shows details and opens the session", async ({ fleet, page }) => {
    await fleet.open("#/overview");
    await expect
      .poll(async () => (await page.locator(".row-name").count()) - (await fleet.sessions()).length)
      .toBe(0);
    const stretch = page.locator(".track .seg.blocked").last();
    // The fleet continues: a span may end or move under the pointer.
    await expect(async () => {
      await stretch.hover({ timeout: 2_000 });
      await expect(page.getByRole("tooltip")).toContainText(
        /(Permission|Question|Plan|\?).*(Waited|Has waited)/,
        {
          timeout: 2_000,
        },
      );
    }).toPass();
    await page.getByRole("button", { name: "By time waited" }).click();
    await expect(page.locator(".lane-row")).toHaveCount(0);
    await page.locator(".row-name").first().click();
    await expect(page.locator("[data-drawer]")).toBeVisible();
  });
});
