/** The page at phone width and with touch. */
import { expect, test } from "./fleet";

test.describe("phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, fleetKind: "resting" });

  test("one column at a time, nothing wider than the screen", async ({ fleet, page }) => {
    await fleet.open();
    await expect(fleet.column("Needs You")).toBeVisible();
    await expect(fleet.column("Running")).toBeHidden();
    await page
      .getByRole("navigation", { name: "Columns" })
      .getByRole("button", { name: /Running/ })
      .click();
    await expect(fleet.column("Running")).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await page.getByRole("button", { name: "Next" }).click();
    await expect(page.locator(".needs [data-card]:focus")).toHaveCount(1);
  });

  test.describe("with terminals that have names", () => {
    test.use({ fleetKind: "demo", sessions: 24 });

    test("a long title has the full width, and the terminal's name is below it", async ({ fleet, page }) => {
      await fleet.open();
      await expect(page.locator(".needs [data-card]").first()).toBeVisible();
      const LINE_PX = 20;
      // The fleet continues: there may be no such card at this moment.
      await expect(async () => {
        const rows = await page.locator(".needs .card-sub").evaluateAll((found) =>
          found.map((row) => {
            const [title, seat] = [row.querySelector(".title"), row.querySelector(".seat")].map((e) =>
              e?.getBoundingClientRect(),
            );
            return {
              lines: title?.height ?? 0,
              named: (seat?.width ?? 0) > 0,
              beside: !!title && !!seat && seat.top < title.bottom,
            };
          }),
        );
        const long = rows.filter(({ lines, named }) => named && lines > LINE_PX + 1);
        expect(long.length).toBeGreaterThan(0);
        expect(long.filter(({ beside }) => beside)).toEqual([]);
      }).toPass({ timeout: 20_000 });
      // At this width the header shows problems and leaves out what is normal.
      await expect(page.locator("[data-hooks=simulated]")).toBeHidden();
    });
  });

  test.describe("with touch", () => {
    test.use({ hasTouch: true, isMobile: true });

    test("a tap opens a card", async ({ fleet, page }) => {
      await fleet.open();
      const card = page.locator(".needs [data-card]").first();
      const id = await card.getAttribute("data-card");
      await card.locator(".card-head").tap();
      await expect(page).toHaveURL(new RegExp(`#/session/${id}`));
    });
  });
});
