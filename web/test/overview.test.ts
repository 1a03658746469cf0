import { expect, test } from "vitest";
import type { FleetHistoryRow } from "../src/generated/FleetHistoryRow";
import { extend, prune } from "../src/overview/history";
import { axisTicks, summarise, waitedMs } from "../src/overview/summary";
import { session } from "./session";

const at = (min: number) => new Date(Date.UTC(2026, 10, 15, 18, min)).toISOString();

test("a live change ends the open span and begins the next", () => {
  const row: FleetHistoryRow = {
    id: "s1",
    title: "Fix it",
    project: "api",
    spans: [
      { from: at(0), to: null, group: "running", state: "thinking", role: "working", label: "Thinking" },
    ],
  };
  const after = session({ group: "needs_you", state: "idle", role: "calm" });
  after.agent_state.since = at(5);
  const [changed] = extend([row], { before: null, after, discovered: false });
  expect(changed?.spans.map((s) => [s.state, s.from, s.to])).toEqual([
    ["thinking", at(0), at(5)],
    ["idle", at(5), null],
  ]);
  const rows = changed ? [changed] : [];
  expect(extend(rows, { before: null, after, discovered: false })).toBe(rows);
});

test("spans that ended before the window are dropped, and so are rows without other spans", () => {
  const span = (from: number, to: number | null) => ({
    from: at(from),
    to: to === null ? null : at(to),
    group: "running" as const,
    state: "thinking" as const,
    role: "working" as const,
    label: "",
  });
  const row = (id: string, spans: FleetHistoryRow["spans"]): FleetHistoryRow => ({
    id,
    title: null,
    project: "api",
    spans,
  });
  const lasting = row("lasting", [span(0, null)]);
  const kept = prune(
    [row("busy", [span(0, 5), span(5, 20), span(20, null)]), row("over", [span(0, 9)]), lasting],
    Date.parse(at(10)),
  );
  expect(kept.map((r) => [r.id, r.spans.map((s) => s.from)])).toEqual([
    ["busy", [at(5), at(20)]],
    ["lasting", [at(0)]],
  ]);
  expect(kept[1]).toBe(lasting);
});

test("the time waited counts only waiting states inside the window", () => {
  const window = { start: Date.parse(at(10)), end: Date.parse(at(40)) };
  const row: FleetHistoryRow = {
    id: "a",
    title: null,
    project: "api",
    spans: [
      { from: at(0), to: at(20), group: "needs_you", state: "needs_permission", role: "urgent", label: "" },
      { from: at(20), to: at(30), group: "running", state: "acting", role: "working", label: "" },
      { from: at(30), to: null, group: "needs_you", state: "error", role: "red", label: "" },
    ],
  };
  expect(waitedMs(row, window)).toBe(20 * 60_000);
  expect(summarise([row], window)).toEqual({ stopped: 0, turns: 0, failed: 1, ended: 0 });
  expect(axisTicks(window).length).toBeGreaterThan(3);
});

test("a turn is counted when work ends, not when a session starts or ends", () => {
  const window = { start: Date.parse(at(0)), end: Date.parse(at(60)) };
  const idle = { group: "needs_you", state: "idle", role: "calm", label: "" } as const;
  const work = { group: "running", state: "acting", role: "working", label: "" } as const;
  const over = { group: "done", state: "session_ended", role: "muted", label: "" } as const;
  const spans = [idle, work, idle, work, idle, over].map((kind, i) => ({
    from: at(i * 9),
    to: at(i * 9 + 9),
    ...kind,
  }));
  const fresh = { id: "b", title: null, project: "api", spans: spans.slice(0, 1) };
  expect(summarise([{ id: "a", title: null, project: "api", spans }, fresh], window)).toEqual({
    stopped: 0,
    turns: 2,
    failed: 0,
    ended: 1,
  });
});
