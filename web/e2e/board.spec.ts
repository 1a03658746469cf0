import { COLUMNS, expect, type Fleet, HOLD_IDLE_MS, test, wantedIn } from "./fleet";
import { RESTING, startRestingFleet } from "./restingFleet";

async function ungroup(fleet: Fleet): Promise<void> {
  await fleet.page.getByRole("button", { name: "Grouped by project" }).click();
  await fleet.page.getByRole("button", { name: "Not grouped" }).click();
}

/** Requests that are alike are one card, which stands at the place of its first session. All of them want the same tool. */
async function agreeWith(fleet: Fleet, wanted: string[][]): Promise<void> {
  const [bunches, shown] = [await fleet.bunches(), await fleet.shown()];
  const followers = new Set(bunches.flatMap((bunch) => bunch.slice(1)));
  const leads = (card: string) => !followers.has(card.split(" ")[0] ?? "");
  expect(shown).toEqual(wanted.map((column) => column.filter(leads)));
  const labelOf = new Map(wanted.flat().map((card) => [card.slice(0, 36), card.slice(37)]));
  const toolOf = (id: string) => labelOf.get(id)?.split(": ")[0];
  for (const bunch of bunches) expect(new Set(bunch.map(toolOf)).size).toBe(1);
}

test.describe("a simulated fleet of 54 sessions", () => {
  test.use({ fleetKind: "demo", sessions: 54, viewport: { width: 1380, height: 1000 } });

  test("columns, order and labels match the API at the same moment, several times", async ({
    fleet,
    page,
    daemonProxy,
  }) => {
    await fleet.open("", daemonProxy.url);
    await ungroup(fleet);
    await page.mouse.move(2, 2);
    let before = 0;
    for (let round = 0; round < 3; round++) {
      // The fleet continues, but the page gets no change that the API reply does not include.
      await expect.poll(() => daemonProxy.forwarded).toBeGreaterThan(before);
      daemonProxy.holdAfter(daemonProxy.forwarded);
      const board = await fleet.board();
      daemonProxy.holdAfter(board.n);
      await expect.poll(() => daemonProxy.received).toBeGreaterThanOrEqual(board.n);
      const wanted = COLUMNS.map((column) => wantedIn(board.sessions, column));
      await expect(() => agreeWith(fleet, wanted)).toPass({ timeout: 10_000 });
      before = board.n;
      daemonProxy.release();
    }
    await expect(page.locator(".banner")).toHaveCount(0);
    await expect(page.locator("[data-hooks=simulated]")).toBeVisible();
  });
});

test("cards appear, move, sort and finish as in the API", async ({ fleet, page }) => {
  await page.setViewportSize({ width: 1300, height: 900 });
  await fleet.open();
  const ids = [await fleet.start("one"), await fleet.start("two"), await fleet.start("three")];
  await ungroup(fleet);
  const agree = async () => {
    const { sessions } = await fleet.board();
    await expect.poll(() => fleet.shown()).toEqual(COLUMNS.map((column) => wantedIn(sessions, column)));
  };
  await agree();
  const [one = "", two = "", three = ""] = ids;
  await fleet.hook(one, "Stop", { last_assistant_message: "Done." });
  await fleet.block(two, "make");
  await agree();
  await expect(fleet.column("Needs You").locator("[data-card]").first()).toHaveAttribute("data-card", two);
  await fleet.hook(three, "SessionEnd", { reason: "other" });
  await fleet.hook(one, "UserPromptSubmit", { prompt: "and now the docs" });
  await agree();
  await expect(fleet.cardIn("Done", three)).toBeVisible();
});

test.describe("a resting fleet", () => {
  test.use({ fleetKind: "resting" });

  test("every card is in the DOM, and two lanes keep the daemon's order", async ({ fleet, page }) => {
    await fleet.open();
    await expect(page.locator("[data-card]")).toHaveCount(RESTING);
    const needs = wantedIn(await fleet.sessions(), "Needs You").map((line) => line.split(" ")[0]);
    for (const lane of ["permissions", "replies"]) {
      const got = await page
        .locator(`[data-lane=${lane}] [data-card]`)
        .evaluateAll((cards) => cards.map((c) => (c as HTMLElement).dataset.card));
      expect(got).toEqual(needs.filter((id) => got.includes(id)));
    }
  });

  test('"Urgency first" uses the other rank and is stored', async ({ fleet, page }) => {
    await page.setViewportSize({ width: 1300, height: 900 });
    await fleet.open();
    await page.getByRole("button", { name: "Order of Needs You: Cache first" }).click();
    const orders = page.getByRole("group", { name: "Order of Needs You" });
    await expect(orders.getByRole("button", { name: /Cache first Warm/ })).toContainText(
      "Warm prompt caches first",
    );
    await orders.getByRole("button", { name: /^Urgency first/ }).click();
    const want = wantedIn(await fleet.sessions(), "Needs You", "urgency");
    await expect.poll(async () => (await fleet.shown())[0]).toEqual(want);
    await page.reload();
    await page.getByRole("button", { name: "Order of Needs You: Urgency first" }).click();
    await orders.getByRole("button", { name: /^Longest waiting first/ }).click();
    const waiting = wantedIn(await fleet.sessions(), "Needs You", "waiting");
    await expect.poll(async () => (await fleet.shown())[0]).toEqual(waiting);
  });

  test("a folded project shows its state icons, and grouping can be changed", async ({ fleet, page }) => {
    await fleet.open();
    const head = fleet.column("Running").getByRole("button", { name: /^infra/ });
    await head.click();
    await expect(head).toHaveAttribute("aria-expanded", "false");
    await expect(head.locator(".minis svg").first()).toBeVisible();
    const running = (await fleet.sessions()).filter(
      (s) => s.agent_state.group === "running" && s.project.name !== "infra",
    );
    await expect(fleet.column("Running").locator("[data-card]")).toHaveCount(running.length);
    await ungroup(fleet);
    await expect(page.locator(".group-head")).toHaveCount(0);
  });

  test("search and facets narrow the board, and the page says that cards are hidden", async ({
    fleet,
    page,
  }) => {
    await fleet.open();
    await page.keyboard.press("/");
    await page.keyboard.type("parquet");
    const matching = (await fleet.sessions()).filter((s) => s.title?.includes("parquet")).length;
    await expect(page.locator(".bar .found")).toContainText(`${matching} of ${RESTING}`);
    await expect(page.locator("[data-card]")).toHaveCount(matching);
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await page.getByRole("button", { name: /^Project/ }).click();
    await page
      .getByRole("group", { name: "Filter by project" })
      .getByRole("button", { name: /^ingest/ })
      .click();
    await page.keyboard.press("Escape");
    await expect(page.locator(".facet.on").first()).toContainText("ingest");
    await expect(page.locator("[data-card]")).toHaveCount(
      (await fleet.sessions()).filter((s) => s.project.name === "ingest").length,
    );
    await page.locator("#search").fill("nowhere to be found");
    await expect(page.getByText("No card matches the filter").first()).toBeVisible();
  });

  test("on a narrow screen branch, model and density are in the menu More, which shows an active filter", async ({
    fleet,
    page,
  }) => {
    await page.setViewportSize({ width: 1366, height: 768 });
    await fleet.open();
    await expect(page.getByRole("button", { name: /^Model/ })).toBeHidden();
    await page.getByRole("button", { name: /^More/ }).click();
    const more = page.getByRole("group", { name: "More filters" });
    await more.getByRole("group", { name: "Model" }).getByRole("button", { name: /Haiku/i }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /^Density/ }).click();
    await page.getByRole("button", { name: /^Compact/ }).click();
    await expect(page.locator("html")).toHaveAttribute("data-density", "compact");
    const haiku = (await fleet.sessions()).filter((s) => s.model === "claude-haiku-5").length;
    await expect(page.locator("[data-card]")).toHaveCount(haiku);
    await expect(page.locator(".facet.on", { hasText: "More" })).toHaveText("More1 chosen");
    expect(
      await page.locator(".bar").evaluate((bar) => bar.scrollWidth - bar.clientWidth),
    ).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1500, height: 768 });
    await expect(page.getByRole("button", { name: /^More/ })).toBeHidden();
    await expect(page.locator(".facet.on", { hasText: "Model" })).toBeVisible();
  });

  test("columns scroll separately, compact density shrinks cards that need nothing, and Done can be hidden", async ({
    fleet,
    page,
  }) => {
    await page.setViewportSize({ width: 1500, height: 600 });
    await fleet.open();
    const lane = page.locator("[data-lane=running]");
    await lane.evaluate((el) => el.scrollTo(0, 300));
    await expect.poll(() => lane.evaluate((el) => el.scrollTop)).toBeGreaterThan(100);
    expect(await page.locator("[data-lane=blocked]").evaluate((el) => el.scrollTop)).toBe(0);
    await page.getByRole("button", { name: /^Density/ }).click();
    await page.getByRole("button", { name: /^Compact/ }).click();
    await expect(lane.locator(".metrics").first()).toBeHidden();
    await expect(page.locator("[data-lane=blocked] .in-terminal").first()).toBeVisible();
    await page.getByRole("button", { name: "Done", exact: true }).click();
    await expect(fleet.column("Done")).toHaveCount(0);
  });
});

test("200 cards are all in the DOM, and with 201 only those near the visible area", async ({
  fleet,
  page,
}) => {
  await startRestingFleet(fleet.server.url, 198);
  for (const prompt of ["the 199th", "the 200th"]) await fleet.start(prompt);
  await fleet.open();
  await expect(page.locator("[data-card]")).toHaveCount(200);
  await expect(page.locator("[data-slot]")).toHaveCount(0);
  await fleet.start("the 201st");
  await expect(page.locator("[data-slot]")).toHaveCount(201);
  await expect.poll(() => page.locator("[data-card]").count()).toBeLessThan(150);
  await expect(page.locator("[data-card]").first()).toBeVisible();
});

test("the tab title and icon count what blocks or asks, and timers tick without the server", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const id = await fleet.start();
  await expect(fleet.card(id)).toBeVisible();
  await expect(page).toHaveTitle("Flightdeck");
  await fleet.block(id, "make");
  await expect(page).toHaveTitle("(1) Flightdeck");
  await expect(page.locator("link[rel=icon]")).toHaveAttribute("href", /F2B33D/);
  const timer = fleet.card(id).locator(".card-head .since time").first();
  const before = await timer.textContent();
  await expect.poll(() => timer.textContent()).not.toBe(before);
});

test("the card under the pointer does not move until the pointer leaves", async ({ fleet, page }) => {
  await fleet.disableTimer(HOLD_IDLE_MS);
  await fleet.open();
  const first = await fleet.start("first");
  const second = await fleet.start("second");
  await expect(fleet.column("Running").locator("[data-card]").first()).toHaveAttribute("data-card", second);
  await fleet.waitForAnimations();
  const card = fleet.card(first);
  await card.hover();
  const place = await card.boundingBox();
  await fleet.hook(first, "Stop");
  await fleet.hook(second, "SessionEnd", { reason: "other" });
  await expect(fleet.cardIn("Done", second)).toBeVisible();
  await expect(card).toHaveAttribute("data-state", "idle");
  await expect
    .poll(async () => Math.abs(((await card.boundingBox())?.y ?? 0) - (place?.y ?? 0)))
    .toBeLessThan(2);
  expect((await card.boundingBox())?.x).toBe(place?.x);
  await expect(fleet.cardIn("Running", first)).toBeVisible();
  await page.mouse.move(5, 5);
  await expect(fleet.cardIn("Needs You", first)).toBeVisible();
});

for (const reduced of [false, true]) {
  test(
    reduced ? "with reduced motion nothing travels" : "a card travels to its new column",
    async ({ fleet, page }) => {
      await page.emulateMedia({ reducedMotion: reduced ? "reduce" : "no-preference" });
      await page.addInitScript(() => {
        const played: string[] = [];
        Object.assign(window, { played });
        const animate = Element.prototype.animate;
        Element.prototype.animate = function (...args) {
          played.push(Object.keys((args[0] as Keyframe[])[0] ?? {}).join());
          return animate.apply(this, args);
        };
      });
      await fleet.open();
      const id = await fleet.start();
      await expect(fleet.cardIn("Running", id)).toBeVisible();
      await fleet.hook(id, "Stop");
      await expect(fleet.cardIn("Needs You", id)).toBeVisible();
      const played = () => page.evaluate(() => (window as unknown as { played: string[] }).played);
      await expect.poll(played).toContain(reduced ? "opacity" : "transform");
      if (reduced) expect(await played()).not.toContain("transform");
      if (reduced)
        expect(
          await page.evaluate(
            () =>
              document.getAnimations().filter((a) => a instanceof CSSAnimation && a.playState === "running")
                .length,
          ),
        ).toBe(0);
    },
  );
}
