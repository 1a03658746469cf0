/** Moving around by keyboard, on the board and in the overview. */
import { expect, test, wantedIn } from "./fleet";
import { command, go } from "./keyboard";

test.describe("keyboard", () => {
  test.use({ fleetKind: "resting" });

  test("j, k, h and l move, Tab has one stop per lane, and ? and Ctrl-K open dialogs", async ({
    fleet,
    page,
  }) => {
    await fleet.open();
    await page.keyboard.press("j");
    const current = page.locator("[aria-current=true][data-card]");
    const first = (await current.getAttribute("data-card")) ?? "";
    await page.keyboard.press("j");
    await expect(current).not.toHaveAttribute("data-card", first);
    await page.keyboard.press("k");
    await expect(current).toHaveAttribute("data-card", first);
    await page.keyboard.press("l");
    await expect(page.locator("[data-lane=waiting] [data-card]:focus")).toHaveCount(1);
    await page.keyboard.press("h");
    await expect(page.locator("[data-lane=blocked] [data-card]:focus")).toHaveCount(1);
    await go(page, "r", page.locator("[data-lane=running] [data-card]:focus"));
    await expect(page.locator("[data-lane=running] [data-card][tabindex='0']")).toHaveCount(1);
    await page.keyboard.press("?");
    await expect(page.getByRole("dialog", { name: "Keyboard" })).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await command(page, "overview", "Go to the overview");
    await expect(page).toHaveURL(/#\/overview$/);
    await go(page, "b", page.locator("[data-card]"));
  });

  test("n goes through the cards in need in order, and the palette opens a session", async ({
    fleet,
    page,
  }) => {
    await page.setViewportSize({ width: 1300, height: 900 });
    await fleet.open();
    const want = wantedIn(await fleet.sessions(), "Needs You").map((line) => line.split(" ")[0]);
    for (const id of want.slice(0, 3)) {
      await page.keyboard.press("n");
      await expect(fleet.card(id ?? "")).toBeFocused();
    }
    await command(page, "parquet (1)", "parquet files in one go (1)");
    await expect(page.locator("[data-drawer]").getByRole("heading", { level: 2 })).toContainText(
      "parquet files in one go (1)",
    );
  });

  test("Enter opens a card, Escape brings the focus back to it", async ({ fleet, page }) => {
    await fleet.open();
    await go(page, "r", page.locator("[data-lane=running] [data-card]:focus"));
    const id = await page.locator("[data-card]:focus").getAttribute("data-card");
    await page.keyboard.press("Enter");
    await expect(page.locator(`[data-drawer="${id}"]`)).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(fleet.card(id ?? "")).toBeFocused();
  });
});

test.describe("keyboard in the overview", () => {
  test.use({ fleetKind: "resting" });

  test("j and k move along the rows, Enter opens one, and Escape returns to it", async ({ fleet, page }) => {
    await fleet.open("#/overview");
    const row = (i: number) => page.locator(".row-name").nth(i);
    await expect(row(3)).toBeVisible();
    await page.keyboard.press("j");
    await expect(row(0)).toBeFocused();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await expect(row(1)).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(page.locator("[data-drawer]")).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(row(1)).toBeFocused();
  });
});
