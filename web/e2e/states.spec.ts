/** Every state of the board, reached through hooks of the real client, and the text of its card. */
import { type Column, expect, test } from "./fleet";
import { HOOKS_TO_STATE } from "./restingFleet";

const STATES: [state: string, column: Column, says: RegExp[]][] = [
  ["thinking", "Running", [/Thinking/]],
  ["acting", "Running", [/Bash/, /cargo test --workspace/]],
  ["delegating", "Running", [/Running Explore subagent/]],
  ["compacting", "Running", [/Compacting/]],
  ["waiting_background", "Running", [/Waiting on 1 background agent/]],
  ["needs_permission", "Needs You", [/Permission for Bash/, /make release/, /Answer it in its terminal/]],
  [
    "awaiting_input",
    "Needs You",
    [
      /Question/,
      /Which store should keep the totals, the old one or the new one\?/,
      /Answer it in its terminal/,
    ],
  ],
  ["awaiting_approval", "Needs You", [/Plan ready/, /Answer it in its terminal/]],
  ["interrupted", "Needs You", [/You interrupted Bash/]],
  ["error", "Needs You", [/Failed: rate_?\s?limit/i]],
  ["idle", "Needs You", [/Finished/, /Done\./]],
  ["session_ended", "Done", [/Exited/]],
];

for (const [state, column, says] of STATES) {
  test(`a session in state ${state} is in ${column} and shows the reason`, async ({ fleet, page }) => {
    await fleet.open();
    const id = await fleet.start("fix the build");
    await expect(fleet.cardIn("Running", id)).toHaveAttribute("data-state", "thinking");
    for (const [name, fields] of HOOKS_TO_STATE[state] ?? []) await fleet.hook(id, name, fields);
    const card = fleet.cardIn(column, id);
    await expect(card).toHaveAttribute("data-state", state);
    await expect(card).toContainText("fix the build");
    for (const words of says) await expect(card).toContainText(words);
    const session = (await fleet.sessions()).find((s) => s.id === id);
    expect(session?.agent_state.state).toBe(state);
    await expect(card).toHaveAttribute("aria-label", `api: ${session?.agent_state.label}`);
    // Cost and context are unknown: no metrics, and no sum of zero.
    await expect(page.getByText("$0.00")).toHaveCount(0);
  });
}

test("after the answer the card returns to Running", async ({ fleet }) => {
  await fleet.open();
  const id = await fleet.start();
  await fleet.block(id, "make");
  await expect(fleet.cardIn("Needs You", id)).toBeVisible();
  await fleet.hook(id, "PostToolUse", {
    tool_name: "Bash",
    tool_input: { command: "make" },
    tool_use_id: `toolu_${id}_make`,
    tool_response: {},
  });
  await expect(fleet.cardIn("Running", id)).toHaveAttribute("data-state", "thinking");
});

test("after /clear the new session replaces the card of the old one", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start("before");
  await expect(fleet.card(id)).toBeVisible();
  const next = "00000000-0000-4000-8000-00000000cafe";
  await fleet.hook(id, "SessionEnd", { reason: "clear" });
  await fleet.hook(next, "SessionStart", { source: "clear", model: "claude-opus-5-5" });
  await expect(fleet.card(next)).toBeVisible();
  const want = (await fleet.sessions()).map((s) => s.id).sort();
  await expect
    .poll(() =>
      page
        .locator("[data-card]")
        .evaluateAll((cards) => cards.map((c) => (c as HTMLElement).dataset.card).sort()),
    )
    .toEqual(want);
});
