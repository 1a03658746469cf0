import { expect, test } from "./fleet";

/** Every state of the board, the hooks that lead there, and what the card must say. */
const STATES: { state: string; column: "Needs You" | "Running" | "Done"; says: RegExp; hooks: [string, Record<string, unknown>][] }[] = [
  { state: "thinking", column: "Running", says: /Thinking/, hooks: [] },
  { state: "acting", column: "Running", says: /Bash/, hooks: [["PreToolUse", { tool_name: "Bash", tool_input: { command: "cargo test" }, tool_use_id: "t1" }]] },
  { state: "delegating", column: "Running", says: /Explore/, hooks: [["SubagentStart", { agent_id: "a1", agent_type: "Explore" }]] },
  { state: "compacting", column: "Running", says: /Compacting/, hooks: [["PreCompact", { trigger: "manual" }]] },
  { state: "waiting_background", column: "Running", says: /background agent/, hooks: [["Stop", { background_tasks: [{ id: "b1", type: "subagent", status: "running" }] }]] },
  { state: "needs_permission", column: "Needs You", says: /Permission/, hooks: [["PreToolUse", { tool_name: "Bash", tool_input: { command: "make" }, tool_use_id: "t1" }], ["PermissionRequest", { tool_name: "Bash", tool_input: { command: "make" } }]] },
  { state: "awaiting_input", column: "Needs You", says: /Which one\?/, hooks: [["PreToolUse", { tool_name: "AskUserQuestion", tool_input: { questions: [{ question: "Which one?", header: "Pick", options: [{ label: "A", description: "" }], multiSelect: false }] }, tool_use_id: "t1" }]] },
  { state: "awaiting_approval", column: "Needs You", says: /Plan/, hooks: [["PreToolUse", { tool_name: "ExitPlanMode", tool_input: { plan: "1. do" }, tool_use_id: "t1" }]] },
  { state: "interrupted", column: "Needs You", says: /interrupted Bash/, hooks: [["PreToolUse", { tool_name: "Bash", tool_input: { command: "sleep 9" }, tool_use_id: "t1" }], ["PostToolUseFailure", { tool_name: "Bash", tool_input: { command: "sleep 9" }, tool_use_id: "t1", is_interrupt: true, error: "interrupted" }]] },
  { state: "error", column: "Needs You", says: /Failed/, hooks: [["StopFailure", { error: "rate_limit", error_type: "rate_limit" }]] },
  { state: "idle", column: "Needs You", says: /Waiting for your next prompt|Finished|Asks/, hooks: [["Stop", {}]] },
  { state: "session_ended", column: "Done", says: /fix the build/, hooks: [["SessionEnd", { reason: "prompt_input_exit" }]] },
];

for (const { state, column, says, hooks } of STATES) {
  test(`a session that is ${state} stands in ${column} and says why`, async ({ fleet }) => {
    await fleet.open();
    const id = await fleet.start("fix the build");
    await expect(fleet.cardIn("Running", id)).toBeVisible();
    for (const [name, fields] of hooks) await fleet.hook(id, name, fields);
    const card = fleet.cardIn(column, id);
    await expect(card).toHaveAttribute("data-state", state);
    await expect(card).toContainText(says);
    await expect(card).toContainText("fix the build");
  });
}

test.describe("a fleet of 54", () => {
  test.use({ sessions: 54, rate: 5 });

  test("every card is in the column and the order the API says", async ({ fleet, page }) => {
    await fleet.open();
    await page.getByRole("button", { name: "Grouped by project" }).click();
    await page.getByRole("button", { name: "Not grouped" }).click();
    await page.waitForTimeout(2000);
    await fleet.order("pause");
    await expect(async () => {
      const sessions = await fleet.sessions();
      for (const [column, group] of [["Running", "running"], ["Done", "done"]] as const) {
        const want = sessions.filter((s) => s.agent_state.group === group).sort((a, b) => (a.rank.default < b.rank.default ? -1 : 1)).map((s) => s.id);
        const got = await fleet.column(column).locator("[data-card]").evaluateAll((cards) => cards.map((c) => (c as HTMLElement).dataset.card));
        expect(got).toEqual(want);
      }
      const permissions = sessions.filter((s) => s.agent_state.state === "needs_permission").sort((a, b) => (a.rank.default < b.rank.default ? -1 : 1)).map((s) => s.id);
      const lane = await page.locator("[data-lane=permissions] [data-card]").evaluateAll((cards) => cards.map((c) => (c as HTMLElement).dataset.card));
      expect(lane).toEqual(permissions);
    }).toPass({ timeout: 15_000 });
    await expect(page.locator("[data-card]")).toHaveCount(54);
  });
});

test.describe("a fleet at rest", () => {
  test.use({ sessions: 54 });

  test("urgency first uses the other rank, and is remembered", async ({ fleet, page }) => {
    await fleet.open();
    await page.getByRole("button", { name: "Urgency first" }).click();
    const want = (await fleet.sessions()).filter((s) => s.agent_state.group === "needs_you" && s.agent_state.state !== "needs_permission").sort((a, b) => (a.rank.urgency < b.rank.urgency ? -1 : 1)).map((s) => s.id);
    const got = () => page.locator("[data-lane=replies] [data-card]").evaluateAll((cards) => cards.map((c) => (c as HTMLElement).dataset.card));
    await expect.poll(got).toEqual(want);
    await page.reload();
    await expect(page.getByRole("button", { name: "Urgency first" })).toHaveAttribute("aria-pressed", "true");
  });

  test("projects fold and keep their glyphs; search and facets narrow the board", async ({ fleet, page }) => {
    await fleet.open();
    const head = fleet.column("Running").getByRole("button", { name: /^infra/ });
    await head.click();
    await expect(head).toHaveAttribute("aria-expanded", "false");
    await expect(head.locator(".minis svg").first()).toBeVisible();
    await page.keyboard.press("/");
    await page.keyboard.type("parquet");
    await expect(page.locator(".found")).toContainText(/of 54/);
    for (const card of await page.locator("[data-card]").all()) await expect(card).toContainText(/parquet/i);
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await page.getByRole("button", { name: /^Project/ }).click();
    await page.getByRole("button", { name: /^ingest/ }).first().click();
    await page.keyboard.press("Escape");
    await expect(page.locator(".facet.on").first()).toContainText("ingest");
  });

  test("columns scroll apart, and compact folds what is not yours to do", async ({ fleet, page }) => {
    await fleet.open();
    const lane = page.locator("[data-lane=running]");
    await lane.evaluate((el) => el.scrollTo(0, 300));
    expect(await page.locator("[data-lane=permissions]").evaluate((el) => el.scrollTop)).toBe(0);
    await page.getByRole("button", { name: "Compact" }).click();
    await expect(lane.locator(".dials").first()).toBeHidden();
    await expect(page.locator("[data-lane=permissions] .ask").first()).toBeVisible();
  });
});

test("the title and the icon count what is blocked; timers tick without the server", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start();
  await expect(page).toHaveTitle("Flightdeck");
  void fleet.ask(id, "Bash", { command: "make" });
  await expect(page).toHaveTitle("(1) Flightdeck");
  expect(await page.locator("link[rel=icon]").getAttribute("href")).toContain("F2B33D");
  const timer = fleet.card(id).locator(".card-head .since time").first();
  const before = await timer.textContent();
  await fleet.page.route("**/api/**", (route) => route.abort());
  await expect.poll(() => timer.textContent()).not.toBe(before);
});

test("the card under the pointer holds still; its move waits until the pointer leaves", async ({ fleet, page }) => {
  await fleet.open();
  const first = await fleet.start("first");
  const second = await fleet.start("second");
  await expect(fleet.cardIn("Running", second)).toBeVisible();
  await page.waitForTimeout(400);
  const card = fleet.card(first);
  await card.hover();
  const place = await card.boundingBox();
  await fleet.hook(first, "Stop");
  await fleet.hook(second, "SessionEnd", { reason: "other" });
  await expect(fleet.cardIn("Done", second)).toBeVisible();
  await expect(card).toHaveAttribute("data-state", "idle");
  await page.waitForTimeout(400);
  const held = await card.boundingBox();
  expect(Math.abs((held?.y ?? 0) - (place?.y ?? 0))).toBeLessThan(2);
  expect(held?.x).toBe(place?.x);
  await page.mouse.move(5, 5);
  await expect(fleet.cardIn("Needs You", first)).toBeVisible();
});
