/** The densest view: one line per session, also for those that wait, and a card that unfolds over its neighbours. */
import type { Page } from "@playwright/test";
import { expect, type Fleet, questions, test } from "./fleet";
import { HOOKS_TO_STATE } from "./restingFleet";

const ASKS = 20;
const OTHERS = 34;
const LONG = `cargo test --workspace --all-features -- --nocapture ${"and_a_long_name ".repeat(6)}`;

test.beforeEach(async ({ page }) => {
  await page.addInitScript(() => localStorage.setItem("flightdeck.density", '"rows"'));
  await page.setViewportSize({ width: 1920, height: 1080 });
});

/** Asks of every kind, all different. */
function ask(fleet: Fleet, id: string, i: number): Promise<unknown> {
  const kinds = [
    () => fleet.ask(id, "Bash", { command: `make step-${i}` }),
    () => fleet.ask(id, "Bash", { command: `${LONG}${i}` }),
    () => fleet.ask(id, "Edit", { file_path: `/home/dev/api/src/${i}.rs`, old_string: "a", new_string: "b" }),
    () => fleet.ask(id, "AskUserQuestion", { questions }),
    () => fleet.ask(id, "ExitPlanMode", { plan: `1. Add the sink ${i}\n2. Roll the files` }),
  ];
  return (kinds[i % kinds.length] ?? kinds[0])?.() ?? Promise.resolve();
}

async function startFleet(fleet: Fleet): Promise<void> {
  for (let i = 0; i < ASKS; i++)
    void ask(fleet, await fleet.start(`Ask ${i} about the totals of the store`), i);
  const states = Object.keys(HOOKS_TO_STATE).filter((state) => !/^(needs|awaiting)/.test(state));
  for (let i = 0; i < OTHERS; i++) {
    const id = await fleet.start(`Work ${i} on the parquet files`);
    for (const [name, fields] of HOOKS_TO_STATE[states[i % states.length] ?? ""] ?? [])
      await fleet.hook(id, name, fields);
  }
}

const scrolling = (page: Page) =>
  page
    .locator(".lane")
    .evaluateAll((lanes) => lanes.filter((lane) => lane.scrollHeight > lane.clientHeight).length);

/** The place of every card, and how many are not wholly visible in their lane. */
const places = (page: Page) =>
  page.locator("[data-card]").evaluateAll((cards) => ({
    tops: cards.map((card) => Math.round(card.getBoundingClientRect().top)),
    hidden: cards.filter(
      (card) =>
        card.getBoundingClientRect().bottom > (card.closest(".lane")?.getBoundingClientRect().bottom ?? 0),
    ).length,
  }));

test("20 asks and 34 others fit on 1920 x 1080, and an unfolded one pushes no row away", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  await startFleet(fleet);
  await expect(page.locator("[data-card]")).toHaveCount(ASKS + OTHERS);
  await expect(page.locator(".row [data-ask]")).toHaveCount(ASKS);
  await fleet.waitForAnimations();
  await fleet.waitForKeys();
  const before = await places(page);
  expect(before.hidden).toBe(0);
  expect(await scrolling(page)).toBe(0);
  for (let i = 0; i < ASKS; i++) {
    await page.keyboard.press("n");
    const detail = page.locator(".row-detail[data-unfolded]");
    await expect(detail).toBeVisible();
    expect((await places(page)).tops).toEqual(before.tops);
    expect(await scrolling(page)).toBe(0);
    const inside = await detail.evaluate((e) => {
      const [own, lane] = [e, e.closest(".lane") as Element].map((x) => x.getBoundingClientRect());
      return own && lane && own.top >= lane.top && own.bottom <= lane.bottom;
    });
    expect(inside).toBe(true);
  }
  await page.keyboard.press("Escape");
  await expect(page.locator(".row-detail[data-unfolded]")).toHaveCount(0);
});

test("a row offers Allow only beside a whole request, and Review unfolds the others", async ({ fleet }) => {
  await fleet.open();
  const [short, long] = [await fleet.start("short"), await fleet.start("long")];
  const verdict = fleet.ask(short, "Bash", { command: "make" });
  void fleet.ask(long, "Bash", { command: LONG });
  const line = (id: string) => fleet.card(id).locator(".row-line");
  await expect(line(short).getByRole("button", { name: "Allow" })).toBeVisible();
  await expect(line(long).getByRole("button")).toHaveText(["Review…"]);
  await fleet.waitForKeys();
  await line(short).getByRole("button", { name: "Allow" }).click();
  expect((await verdict).hookSpecificOutput.decision.behavior).toBe("allow");
  await line(long).getByRole("button", { name: "Review…" }).click();
  await expect(fleet.card(long).locator(".row-detail .cmd")).toHaveText(LONG.trim());
  await expect(
    fleet
      .card(long)
      .locator(".row-detail")
      .getByRole("button", { name: /^Allow/ }),
  ).toBeVisible();
});

test("keys answer an unfolded row; a folded one unfolds first and refuses the key", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const id = await fleet.start();
  const verdict = fleet.ask(id, "Bash", { command: "make" });
  await expect(fleet.card(id).locator(".row-line").getByRole("button").first()).toBeVisible();
  await fleet.waitForKeys();
  await fleet.select(id);
  await expect(page.locator(".row-detail[data-unfolded]")).toHaveCount(0);
  await page.keyboard.press("y");
  await expect(fleet.refusal()).toContainText("it was out of sight");
  await expect(page.locator(".row-detail[data-unfolded]")).toBeVisible();
  await page.keyboard.press("y");
  await expect(fleet.card(id).locator("[data-ask]")).toHaveAttribute("data-pending", "");
  expect((await verdict).hookSpecificOutput.decision.behavior).toBe("allow");
});
