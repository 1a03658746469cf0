import { expect, test } from "vitest";
import { doing, numbersOf, openWindow } from "../src/efforts/current";
import { merged, withChangedEfforts } from "../src/efforts/entries";
import { matchesEffortFilter, NO_EFFORT_FILTER } from "../src/efforts/filter";
import { timesIn } from "../src/efforts/guardHistory";
import { costOf, curveOf } from "../src/efforts/windowNumbers";
import { changeFrom } from "../src/live/messageQueue";
import { at } from "./assignment";
import { contextWindow, effort } from "./effort";
import { session } from "./session";

const ids = (efforts: { id: string }[]) => efforts.map(({ id }) => id);

test("active efforts come first, and the newest first", () => {
  const page = [
    effort({ id: "old", started_at: at(1) }),
    effort({ id: "done", started_at: at(9), finished_at: at(10) }),
  ];
  expect(ids(merged(page, [effort({ id: "new", started_at: at(2) })]))).toEqual(["new", "old", "done"]);
});

test("an effort that is finished moves, and keeps the cost that the stream does not send", () => {
  const cost = { usd_micros: 5, unpriced_models: [] };
  const rows = merged(
    [],
    [effort({ id: "a", started_at: at(5), cost }), effort({ id: "b", started_at: at(1) })],
  );
  const next = withChangedEfforts(rows, [effort({ id: "a", started_at: at(5), finished_at: at(6) })], false);
  expect(next.map(({ id, cost }) => [id, cost])).toEqual([
    ["b", null],
    ["a", cost],
  ]);
});

test("an effort of a page that is not loaded waits for its page", () => {
  const rows = [effort({ id: "a", started_at: at(5), finished_at: at(6) })];
  const older = effort({ id: "b", started_at: at(1), finished_at: at(2) });
  expect(ids(withChangedEfforts(rows, [older], true))).toEqual(["a"]);
  expect(ids(withChangedEfforts(rows, [older], false))).toEqual(["a", "b"]);
  expect(ids(withChangedEfforts(rows, [effort({ id: "c", started_at: at(0) })], true))).toEqual(["c", "a"]);
});

test("a search finds words in the title, the log and the handoff", () => {
  const one = effort({
    log: [{ at: at(1), text: "Reverse charge is next" }],
    handoff: { from: "w-1", at: at(2), payload: "Do not regenerate golden files", to: null },
  });
  const found = (text: string) => matchesEffortFilter(one, { ...NO_EFFORT_FILTER, text });
  expect([found("tax REVERSE"), found("golden api"), found("golden nowhere")]).toEqual([true, true, false]);
});

test("lifecycle, project and skill filter", () => {
  const one = effort({ project: "web", skill: "fix", finished_at: at(3) });
  expect(
    matchesEffortFilter(one, { ...NO_EFFORT_FILTER, which: "finished", project: "web", skill: "fix" }),
  ).toBe(true);
  expect(matchesEffortFilter(one, { ...NO_EFFORT_FILTER, which: "active" })).toBe(false);
  expect(matchesEffortFilter(one, { ...NO_EFFORT_FILTER, project: "api" })).toBe(false);
  expect(matchesEffortFilter(one, { ...NO_EFFORT_FILTER, skill: "implement" })).toBe(false);
});

test("the open window is the newest of the main agent", () => {
  const windows = [
    contextWindow({ id: "w-1", ended_at: at(1) }),
    contextWindow({ id: "w-0" }),
    contextWindow({ id: "w-2" }),
    contextWindow({ id: "w-3", agent_id: "a1", number: null }),
  ];
  expect(openWindow(effort({ windows }))?.id).toBe("w-2");
  expect(openWindow(effort({ windows: windows.slice(0, 1) }))).toBeNull();
});

test("a session that works on the effort has the newer heartbeat", () => {
  const brief = {
    id: "e-1",
    skill: "implement",
    ordinal: 1,
    phase: null,
    heartbeat: 10,
    heartbeat_limit: 10,
    held: true,
    window: 1,
  };
  const one = effort({ heartbeat: 3 });
  expect(numbersOf(one, session({ effort: brief }))).toEqual({
    heartbeat: 10,
    heartbeat_limit: 10,
    held: true,
  });
  expect(numbersOf(one, session({ effort: { ...brief, id: "e-2" } })).heartbeat).toBe(3);
  expect(numbersOf(one, null).heartbeat).toBe(3);
});

test("what an effort does: a request to the person comes before the heartbeat", () => {
  const windows = [contextWindow()];
  const held = effort({ windows, held: true });
  const asks = session({
    group: "needs_you",
    state: "needs_permission",
    role: "urgent",
    label: "Permission: Bash",
  });
  expect(doing(held, asks)).toMatchObject({ label: "Permission: Bash", tone: "attn" });
  expect(doing(held, session())).toMatchObject({ label: "Must log first", tone: "quiet" });
  expect(doing(effort({ windows }), session())).toMatchObject({ label: "Thinking", tone: "work" });
  expect(doing(effort({ windows }), null).label).toBe("Window open");
  expect(doing(effort(), null).label).toBe("Waits for a window");
  expect(doing(effort({ finished_at: at(1) }), null).label).toBe("Finished");
});

const point = (min: number, context_tokens: number | null, usd_micros: number | null) => ({
  at: at(min),
  context_tokens,
  usd_micros,
});

test("the curve of a window has its own points, in its own scale", () => {
  const window = contextWindow({ started_at: at(10), ended_at: at(20) });
  const points = [point(5, 900, 1), point(10, 20, 2), point(15, 50, 3), point(20, 100, 4), point(25, 7, 5)];
  expect(curveOf(window, 80, points, 0)).toEqual([
    { x: 0, y: 16 },
    { x: 50, y: 40 },
    { x: 100, y: 80 },
  ]);
  const open = contextWindow({ started_at: at(10) });
  expect(curveOf(open, 80, points.slice(1, 3), Date.parse(at(20))).map(({ x }) => x)).toEqual([0, 50]);
  expect(curveOf(window, null, points, 0)).toEqual([]);
  expect(curveOf(window, 80, points.slice(0, 2), 0)).toEqual([]);
});

test("a window costs what its session cost more at its end than before it", () => {
  const window = contextWindow({ started_at: at(10), ended_at: at(20) });
  const points = [point(5, null, 100), point(12, null, 150), point(20, null, 400), point(25, null, 900)];
  expect(costOf(window, points)).toBe(300);
  expect(costOf(contextWindow({ started_at: at(0), ended_at: at(8) }), points)).toBe(100);
  expect(costOf(contextWindow({ started_at: at(21), ended_at: at(22) }), points)).toBeNull();
});

test("a rule that denies counts what it would have decided, one that warns what it matches", () => {
  const when = { field: "/tool_name", op: "eq" as const, value: "Bash" };
  const rule = (id: string, then: "deny" | "warn") => ({
    id,
    when,
    then,
    message: null,
    once: false,
    priority: 0,
  });
  const row = (rule: string, then: "deny" | "warn", matched: number, decided: number) => ({
    rule,
    then,
    matched,
    decided,
  });
  const report = {
    calls: 9,
    since: null,
    rules: [row("a", "deny", 4, 3), row("b", "warn", 2, 0)],
    denied: [],
  };
  expect(timesIn(report, rule("a", "deny"))).toBe(3);
  expect(timesIn(report, rule("b", "warn"))).toBe(2);
  expect(timesIn(report, rule("new", "deny"))).toBeNull();
  expect(timesIn(null, rule("a", "deny"))).toBeNull();
});

test("effort_updated of the stream is a change of an effort", () => {
  const one = effort();
  expect(changeFrom({ event: "effort_updated", id: "b-1", data: JSON.stringify({ effort: one }) })).toEqual({
    kind: "effort",
    effort: one,
  });
});
