/** What the filter hides is said where the person looks, and each lane of Needs You stays below its heading. */
import type { Page } from "@playwright/test";
import { allow, expect, type Fleet, test } from "./fleet";

/** Two sessions that ask for a permission, one of them in another project. */
async function twoProjects(fleet: Fleet): Promise<[string, string]> {
  const one = await fleet.start("fix the build");
  const two = await fleet.start("tidy the page", { cwd: "/home/dev/web" });
  void fleet.ask(one, "Bash", { command: "make" });
  void fleet.ask(two, "Bash", { command: "npm test" }, { cwd: "/home/dev/web" });
  return [one, two];
}

test("a filter says how many more need the person, and one press shows them", async ({ fleet, page }) => {
  const [one, two] = await twoProjects(fleet);
  await fleet.open("?q=build");
  await expect(allow(fleet.cardIn("Needs You", one))).toBeVisible();
  await expect(fleet.card(two)).toHaveCount(0);
  const hidden = fleet.column("Needs You").locator(".outside-filter");
  await expect(hidden).toContainText("1 more needs you outside the filter");
  await expect(page.locator(".instrument.need .readout")).toHaveText("2");
  await hidden.getByRole("button", { name: "Show all" }).click();
  await expect(fleet.card(two)).toBeVisible();
  await expect(hidden).toHaveCount(0);
});

test("if the filter hides all that need the person, the column and n say so", async ({ fleet, page }) => {
  await twoProjects(fleet);
  await fleet.open("?q=build");
  await page.locator("#search").fill("nothing like this");
  await expect(fleet.column("Needs You").locator(".nothing")).toContainText(
    "2 sessions need you outside the filter",
  );
  await page.locator("#search").blur();
  await page.keyboard.press("n");
  await expect(fleet.refusal()).toContainText("nothing in the filter needs you, 2 outside it");
});

test("at phone width the counts stay on one line, and Next says why it goes nowhere", async ({
  fleet,
  page,
}) => {
  await twoProjects(fleet);
  await page.setViewportSize({ width: 390, height: 844 });
  await fleet.open("?q=build");
  await expect(fleet.column("Needs You").locator(".outside-filter")).toBeVisible();
  const heights = await page
    .locator(".p-tabs .count")
    .evaluateAll((counts) => counts.map((count) => [count.scrollHeight, count.clientHeight]));
  for (const [needed, given] of heights) expect(needed).toBeLessThanOrEqual(given ?? 0);
  await page.goto(`${fleet.server.url}?q=zzz`);
  await expect(fleet.column("Needs You").locator(".nothing")).toBeVisible();
  await page.getByRole("button", { name: "Next" }).click();
  await expect(page.locator(".toast")).toHaveText("Nothing in the filter needs you, 2 outside it");
});

/** The left edge of a heading and of the cards that belong below it. */
const edges = (page: Page, heading: string, lane: string) =>
  page.evaluate(
    ([heading, lane]) => {
      const left = (element: Element | null | undefined) =>
        element?.getBoundingClientRect().left ?? Number.NaN;
      const name = Array.from(document.querySelectorAll(".needs .lane-name")).find((one) =>
        one.textContent?.startsWith(heading ?? ""),
      );
      return [
        left(name?.closest(".column-head")),
        left(document.querySelector(`[data-lane=${lane}] [data-card]`)),
      ];
    },
    [heading, lane],
  );

test("while nothing is blocked, what waits stays below its own heading", async ({ fleet, page }) => {
  const id = await fleet.start();
  await fleet.hook(id, "Stop", { last_assistant_message: "The build is fixed." });
  await fleet.open();
  await expect(fleet.cardIn("Needs You", id)).toBeVisible();
  await expect(page.locator(".needs .nothing")).toHaveText("Nothing is blocked");
  const [heading, card] = await edges(page, "Waiting", "waiting");
  expect(Math.abs((heading ?? 0) - (card ?? 0))).toBeLessThan(20);
});

test("while nothing else waits, the empty lane says so", async ({ fleet, page }) => {
  const id = await fleet.start();
  void fleet.ask(id, "Bash", { command: "make" });
  await fleet.open();
  await expect(allow(fleet.cardIn("Needs You", id))).toBeVisible();
  await expect(page.locator(".needs .nothing")).toHaveText("Nothing else waits for you");
});
