/** No control is pushed off screen at any width, and 54 sessions fit on one screen in the densest view. */
import type { Page } from "@playwright/test";
import { expect, test } from "./fleet";

test.use({ fleetKind: "resting" });

const WIDTHS = [390, 768, 1024, 1280, 1440, 1920, 2560];
/** Filters of every kind, with long values. */
const FILTERED =
  "?q=the&project=a-project-with-quite-a-long-name&project=api&state=idle&state=needs_permission&model=claude-haiku-5&model=claude-opus-5-5";

/** Controls that are drawn but cut off or outside the window. Lanes scroll up and down, so only x counts there. */
const offScreen = (page: Page) =>
  page.evaluate(() => {
    const controls = document.querySelectorAll<HTMLElement>("button, a[href], input, select, textarea");
    return Array.from(controls)
      .filter((control) => control.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
      .filter((control) => control.tabIndex >= 0 || control.closest(".answer, .options"))
      .flatMap((control) => {
        const { left, right, width } = control.getBoundingClientRect();
        let [from, to] = [0, innerWidth];
        for (let box = control.parentElement; box; box = box.parentElement) {
          const { overflowX } = getComputedStyle(box);
          if (overflowX === "visible") continue;
          const edges = box.getBoundingClientRect();
          [from, to] = [Math.max(from, edges.left), Math.min(to, edges.right)];
        }
        const name = control.getAttribute("aria-label") ?? control.innerText ?? control.className;
        return width > 0 && (left < from - 1 || right > to + 1)
          ? [`${name} ${left}..${right} not in ${from}..${to}`]
          : [];
      });
  });

for (const width of WIDTHS) {
  for (const density of ["comfortable", "compact", "rows"]) {
    test(`no control is off screen at ${width} px, ${density}`, async ({ fleet, page }) => {
      await page.addInitScript(
        (value) => localStorage.setItem("flightdeck.density", JSON.stringify(value)),
        density,
      );
      await page.setViewportSize({ width, height: 1080 });
      await fleet.open();
      expect(await offScreen(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      await fleet.open(FILTERED);
      await expect(page.locator(".found:visible")).toContainText("of 54");
      expect(await offScreen(page)).toEqual([]);
      const id = (await fleet.sessions())[0]?.id;
      await page.goto(`${fleet.server.url}#/session/${id}`);
      await expect(page.locator("[data-drawer] .ev").first()).toBeVisible();
      await fleet.waitForAnimations();
      expect(await offScreen(page)).toEqual([]);
    });
  }
}

test("chosen filters keep the bar on one line at 1440 px", async ({ fleet, page }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await fleet.open("?project=api&state=thinking&state=idle&model=claude-opus-5-5");
  const bar = page.getByRole("search").first();
  await expect(page.locator(".found:visible")).toBeVisible();
  expect((await bar.boundingBox())?.height).toBeLessThan(50);
});

for (const width of [1024, 1280, 1440])
  test(`the controls of the arrangement stay in the line of the host filter at ${width} px`, async ({
    fleet,
    page,
  }) => {
    await page.setViewportSize({ width, height: 768 });
    // No card fits these filters.
    await page.goto(`${fleet.server.url}?host=build-machine-1&project=api&state=idle`);
    const bar = page.getByRole("search").first();
    await expect(bar.getByRole("button", { name: /^Host/ })).toBeVisible();
    await expect(page.locator(".found:visible")).toBeVisible();
    await expect(bar.getByRole("button", { name: "Order of Needs You: Cache first" })).toBeVisible();
    expect((await bar.boundingBox())?.height).toBeLessThan(50);
  });

test("54 sessions fit on 1920 x 1080 in rows", async ({ fleet, page }) => {
  await page.addInitScript(() => localStorage.setItem("flightdeck.density", '"rows"'));
  await page.setViewportSize({ width: 1920, height: 1080 });
  await fleet.open();
  await expect(page.locator("[data-card]")).toHaveCount(54);
  const hidden = await page
    .locator("[data-card]")
    .evaluateAll(
      (cards) =>
        cards.filter(
          (card) =>
            card.getBoundingClientRect().bottom >
            (card.closest(".lane")?.getBoundingClientRect().bottom ?? 0),
        ).length,
    );
  expect(hidden).toBe(0);
});

test("filters live in the address: a link shows the same cards, and clearing removes them", async ({
  fleet,
  page,
}) => {
  await fleet.open("?project=infra&state=thinking");
  const wanted = (await fleet.sessions()).filter(
    (s) => s.project.name === "infra" && s.agent_state.state === "thinking",
  ).length;
  await expect(page.locator("[data-card]")).toHaveCount(wanted);
  await page.locator("#search").fill("nothing like this");
  await expect(page).toHaveURL(/q=nothing\+like\+this/);
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  await expect(page).toHaveURL(/\/(#.*)?$/);
  await expect(page.locator("[data-card]")).toHaveCount(54);
});

test("with a filter a column counts what it shows, and the fleet's number stays", async ({ fleet, page }) => {
  const sessions = await fleet.sessions();
  const inApi = (list: typeof sessions) => list.filter((s) => s.project.name === "api").length;
  const needs = sessions.filter((s) => s.waiting?.counts);
  const running = sessions.filter((s) => s.agent_state.group === "running");
  await fleet.open("?project=api");
  const needsCount = fleet.column("Needs You").locator(".column-head .count");
  await expect(needsCount).toHaveText(`${inApi(needs)} of ${needs.length}`);
  await expect(fleet.column("Running").locator(".column-head .count")).toHaveText(
    `${inApi(running)} of ${running.length}`,
  );
  await expect(page.locator(".instrument.need .readout")).toHaveText(String(needs.length));
  await expect(page).toHaveTitle(`(${needs.length}) Flightdeck`);
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(page.getByRole("navigation", { name: "Columns" }).locator(".count").first()).toHaveText(
    `${inApi(needs)} of ${needs.length}`,
  );
  await page.getByRole("button", { name: "Clear", exact: true }).locator("visible=true").click();
  await expect(page.getByRole("navigation", { name: "Columns" }).locator(".count").first()).toHaveText(
    String(needs.length),
  );
});

/** Words of the header that are drawn over the next instrument, or cut. */
const clashes = (page: Page) =>
  page.locator(".top").evaluate((header) => {
    const boxOf = (one: Element) => one.getBoundingClientRect();
    const words = Array.from(header.querySelectorAll(".k, .v, .sub, .spark")).filter((one) =>
      one.checkVisibility(),
    );
    const end = boxOf(header).right;
    return words.flatMap((one) => {
      const [{ right }, own] = [boxOf(one), one.closest(".instrument")];
      const inLine = own?.nextElementSibling ?? own?.parentElement?.nextElementSibling;
      const limit = inLine?.checkVisibility() ? boxOf(inLine).left : end;
      return right > limit + 1 ? [`${one.textContent}: ${right} > ${limit}`] : [];
    });
  });

for (const width of [1024, 1121, 1215, 1280])
  test(`the header cuts nothing and says how it is connected at ${width} px`, async ({ fleet, page }) => {
    await page.setViewportSize({ width, height: 768 });
    await fleet.open();
    const connected = page.locator("[data-connection=live] .k");
    await expect(connected).toBeVisible();
    const tools = await page.locator(".top-tools").boundingBox();
    const label = await connected.boundingBox();
    expect((label?.x ?? 0) + (label?.width ?? 0)).toBeLessThanOrEqual(tools?.x ?? 0);
    expect(await clashes(page)).toEqual([]);
  });

test.describe("the header of a fleet with costs", () => {
  test.use({ fleetKind: "demo" });

  for (const width of [1024, 1241, 1280, 1399, 1440, 1920])
    test(`draws nothing over anything else at ${width} px`, async ({ fleet, page }) => {
      await page.setViewportSize({ width, height: 844 });
      await fleet.open();
      await expect(page.locator(".instrument.need .readout")).toBeVisible();
      await expect(page.locator(".instrument.spend")).toBeVisible({ visible: width > 1240 });
      expect(await clashes(page)).toEqual([]);
      fleet.server.signal("SIGSTOP");
      await expect(page.locator(".lost-banner")).toBeVisible();
      expect(await clashes(page)).toEqual([]);
      fleet.server.signal("SIGCONT");
      await expect(page.locator(".lost-banner")).toHaveCount(0);
    });
});
