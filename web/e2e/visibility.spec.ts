/** The page tells the daemon which cards the person can see: about those it sends no notification. */
import type { Page } from "@playwright/test";
import { expect, test } from "./fleet";

test.use({ fleetKind: "resting" });

type Report = { visible: boolean; sessions: string[] | null };

/** What the page reported last, while notifications are sent. */
async function reportsOf(page: Page): Promise<() => Report | undefined> {
  const reports: Report[] = [];
  await page.route("**/api/notify/visible", (route) => {
    reports.push(route.request().postDataJSON());
    return route.fulfill({ json: { wanted: true } });
  });
  return () => reports.at(-1);
}

/** The cards whose middle is inside the window and inside their lane. */
const inSight = (page: Page) =>
  page.locator("[data-card]").evaluateAll((cards) =>
    cards
      .filter((card) => {
        const { top, height, width } = card.getBoundingClientRect();
        const lane = card.closest("[data-lane]")?.getBoundingClientRect();
        const middle = top + height / 2;
        return width > 0 && lane && middle > lane.top && middle < Math.min(lane.bottom, innerHeight);
      })
      .map((card) => (card as HTMLElement).dataset.card ?? "")
      .sort(),
  );

test("only cards in sight are reported: not those below the fold, in a folded group or behind the drawer", async ({
  fleet,
  page,
}) => {
  const last = await reportsOf(page);
  const reported = () => last()?.sessions?.toSorted();
  await fleet.open();
  await expect(page.locator("[data-card]")).toHaveCount(54);
  await fleet.waitForAnimations();
  const seen = await inSight(page);
  expect(seen.length).toBeGreaterThan(4);
  expect(seen.length).toBeLessThan(54);
  await expect.poll(reported).toEqual(seen);

  const lane = page.locator("[data-lane=running]");
  await lane.evaluate((e) => e.scrollTo({ top: e.scrollHeight }));
  await expect.poll(() => inSight(page)).not.toEqual(seen);
  await expect.poll(reported).toEqual(await inSight(page));

  await lane.evaluate((e) => e.scrollTo({ top: 0 }));
  const first = (await lane.locator("[data-card]").first().getAttribute("data-card")) ?? "";
  await expect.poll(reported).toContain(first);
  await lane.locator(".group-head").first().click();
  await expect(fleet.card(first)).toHaveCount(0);
  await expect.poll(reported).not.toContain(first);

  await page.goto(`${fleet.server.url}#/session/${first}`);
  await expect(page.locator("[data-drawer]")).toBeVisible();
  await expect.poll(reported).toEqual([first]);
  await page.goto(`${fleet.server.url}#/log`);
  await expect.poll(reported).toEqual([]);
});

test("at phone width the cards of the other columns are not reported", async ({ fleet, page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const last = await reportsOf(page);
  await fleet.open();
  const waiting = await inSight(page);
  await expect.poll(() => last()?.sessions?.toSorted()).toEqual(waiting);
  await page.getByRole("button", { name: /^Running/ }).click();
  await expect.poll(() => inSight(page)).not.toEqual(waiting);
  await expect.poll(() => last()?.sessions?.toSorted()).toEqual(await inSight(page));
  for (const id of waiting) expect(last()?.sessions).not.toContain(id);
});

test("a board without input for five minutes counts as not seen, until it is used again", async ({
  fleet,
  page,
}) => {
  await page.clock.install();
  const last = await reportsOf(page);
  await fleet.open();
  await expect.poll(() => last()?.visible).toBe(true);
  await page.clock.fastForward(6 * 60_000);
  await expect.poll(() => last()?.visible).toBe(false);
  await page.mouse.move(200, 300);
  await expect.poll(() => last()?.visible).toBe(true);
});
