import { expect, test } from "vitest";
import { saidIn } from "../src/drawer/Conversation";
import { stepMs, stepsFrom } from "../src/drawer/timelineSteps";
import type { TimelineEvent } from "../src/generated/TimelineEvent";

const event = (
  seq: number,
  name: string,
  at: number,
  payload: Record<string, unknown> = {},
): TimelineEvent => ({
  seq,
  id: `e${seq}`,
  fired_at: new Date(at).toISOString(),
  received_at: new Date(at).toISOString(),
  source: "hook",
  name,
  agent_id: null,
  by_person: name === "UserPromptSubmit",
  summary: name,
  payload,
});

test("a tool call and its end are one step with a duration, newest first", () => {
  const steps = stepsFrom([
    event(1, "UserPromptSubmit", 0),
    event(2, "PreToolUse", 1000, { tool_use_id: "a" }),
    event(3, "PreToolUse", 2000, { tool_use_id: "b" }),
    event(4, "PostToolUseFailure", 32_400, { tool_use_id: "a" }),
  ]);
  expect(steps.map((s) => [s.event.seq, stepMs(s), s.failed])).toEqual([
    [3, null, false],
    [2, 31_400, true],
    [1, null, false],
  ]);
});

test("a denial by a rule is marked, other verdicts are not", () => {
  const steps = stepsFrom([
    event(1, "PreToolUse", 0, { tool_use_id: "a" }),
    event(2, "verdict_given", 10, { denied_by: "no-force-push", tool_use_id: "a" }),
    event(3, "verdict_given", 20, { handoff: true }),
  ]);
  expect(steps.map((s) => [s.event.seq, s.denied, s.icon])).toEqual([
    [3, false, "rule"],
    [2, true, "rule"],
    [1, false, "tool"],
  ]);
});

test("the conversation has the prompts and the last message of each turn", () => {
  const said = saidIn([
    event(1, "UserPromptSubmit", 0, { prompt: "fix" }),
    event(2, "PreToolUse", 1),
    event(3, "Stop", 2, { last_assistant_message: "done" }),
    event(4, "Stop", 3),
  ]);
  expect(said.map((s) => [s.you, s.text])).toEqual([
    [true, "fix"],
    [false, "done"],
  ]);
});
