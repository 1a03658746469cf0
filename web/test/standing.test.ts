import { expect, test } from "vitest";
import { isSameTitle, standing } from "../src/assignment/standing";
import { briefWaitedMs, timesAt } from "../src/assignment/times";
import { assignment, at } from "./assignment";

test("the state, the reason or the outcome says how far it is", () => {
  const label = (...args: Parameters<typeof assignment>) => standing(assignment(...args)).label;
  expect(label({ state: "commanded" })).toBe("Asked");
  expect(label()).toBe("Working");
  expect(label({ state: "awaiting_input", reason: "permission" })).toBe("Blocked");
  expect(label({ state: "awaiting_input", reason: "asked" })).toBe("Asks you");
  expect(label({ state: "awaiting_input", reason: "failed" })).toBe("Failed");
  expect(label({ completed_at: at(1) })).toBe("Completed");
  expect(label({ completed_at: at(1), outcome: "died" })).toBe("Died");
});

test("a turn that ended without a clear word is marked as uncertain", () => {
  const evidence = { rule: "nothing_said" as const, line: "" };
  const unclear = { intent: "progress" as const, confidence: 0.4, evidence };
  expect(standing(assignment({ completed_at: at(1), last_intent: unclear })).label).toBe("Completed?");
});

test("of an open assignment one time grows, of a complete one none", () => {
  const read = Date.parse(at(0));
  const times = (state: "processing" | "awaiting_input" | "complete") =>
    timesAt(
      { assignment: assignment({ state, working_seconds: 10, waiting_seconds: 5 }), readAt: read },
      read + 3_000,
    );
  expect(times("processing")).toEqual({ workingMs: 13_000, waitingMs: 5_000 });
  expect(times("awaiting_input")).toEqual({ workingMs: 10_000, waitingMs: 8_000 });
  expect(times("complete")).toEqual({ workingMs: 10_000, waitingMs: 5_000 });
});

test("the time of a card that waits grows from `since`", () => {
  const { id, state, reason, outcome, title } = assignment({ state: "awaiting_input" });
  const brief = { id, state, reason, outcome, title, since: at(0), waiting_seconds: 60 };
  expect(briefWaitedMs(brief, Date.parse(at(2)))).toBe(180_000);
  expect(briefWaitedMs({ ...brief, state: "processing" }, Date.parse(at(2)))).toBe(60_000);
});

test("a clipped title is the same title", () => {
  expect(isSameTitle("Fix it", "Fix it")).toBe(true);
  expect(isSameTitle("Store the totals as integer cents", "Store the totals as integ…")).toBe(true);
  expect(isSameTitle("Fix it", "Fix it all")).toBe(false);
  expect(isSameTitle("Fix it", null)).toBe(false);
});
