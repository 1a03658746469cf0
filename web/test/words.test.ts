import { expect, test } from "vitest";
import { entersNeed } from "../src/alerts/enters";
import { isQuiet, type AlertSettings } from "../src/alerts/settings";
import { faviconUrl } from "../src/alerts/tab";
import { headline } from "../src/card/headline";
import { lookOf } from "../src/card/look";
import type { Role } from "../src/generated/Role";
import { saidIn } from "../src/drawer/Conversation";
import { stepMs, stepsFrom } from "../src/drawer/steps";
import { hookTrouble } from "../src/live/trouble";
import type { FleetHistoryRow } from "../src/generated/FleetHistoryRow";
import type { HookStatus } from "../src/generated/HookStatus";
import type { TimelineEvent } from "../src/generated/TimelineEvent";
import { ago, duration, modelName, span, tokens, usd } from "../src/lib/format";
import { extend, prune } from "../src/overview/history";
import { axisTicks, summarise, waitedMs } from "../src/overview/summary";
import { session } from "./session";

test("times are short and never negative", () => {
  expect([duration(9_400), duration(-5), duration(760_000), duration(3_900_000), duration(90_000_000)]).toEqual(["0:09", "0:00", "12:40", "1 h 5 min", "1 d 1 h"]);
  expect([span(0), span(20_000), span(4_920_000), span(63_360_000)]).toEqual(["none", "20 s", "82 min", "17 h 36 min"]);
  expect([ago(400), ago(6_000), ago(240_000)]).toEqual(["just now", "6 s ago", "4 min ago"]);
});

test("money, tokens and models as people say them", () => {
  expect([usd(64_524), usd(1_200), usd(0), usd(1_234_567_890)]).toEqual(["$0.06", "<$0.01", "$0.00", "$1,235"]);
  expect([tokens(950), tokens(212_400), tokens(1_000_000)]).toEqual(["950", "212k", "1M"]);
  expect([modelName("claude-opus-5-5"), modelName("claude-haiku-5-20261101"), modelName("local/llama")]).toEqual(["Opus 5.5", "Haiku 5", "local/llama"]);
});

test("a running card's headline is its tool, the rest is its activity", () => {
  const acting = { ...session({ label: "Bash: cargo test" }), status: { kind: "working" as const, detail: "Bash", reason: null } };
  expect(headline(acting)).toMatchObject({ state: "Bash", rest: "cargo test" });
  expect(headline(session({ label: "Thinking" }))).toMatchObject({ state: "Thinking", rest: null });
});

test("a blocked card without an ask keeps its headline short and its question whole", () => {
  const blocked = (state: "needs_permission" | "awaiting_input" | "awaiting_approval", label: string, reason: string) =>
    headline({ ...session({ group: "needs_you", state, label, kind: "attention_needed" }), status: { kind: "attention_needed", detail: null, reason } });
  expect(blocked("needs_permission", "Permission for Bash: cargo test", "Permission for Bash")).toMatchObject({ state: "Permission for Bash", rest: "cargo test" });
  expect(blocked("awaiting_input", "Old or new?", "AskUserQuestion")).toMatchObject({ state: "Question", rest: "Old or new?" });
  expect(blocked("awaiting_approval", "Plan ready", "ExitPlanMode")).toMatchObject({ state: "Plan ready", rest: null });
});

const hooks: HookStatus = { registered: ["Stop"], missing: [], stale: [], wanted: true, via: "shim", drift: false, problem: null, fix: null, simulated: false, program: "flightdeck", last_event_at: null, events_total: 0, by_event: {}, spool: { files: 0, bytes: 0, dropped: 0 } };

test("hooks: in order, not wanted, never registered, changed, unreadable are told apart, with the daemon's fix", () => {
  const kind = (part: Partial<HookStatus>) => hookTrouble({ ...hooks, ...part })?.kind ?? null;
  expect(kind({})).toBeNull();
  expect(kind({ wanted: false, registered: [], missing: ["Stop"] })).toBeNull();
  expect(kind({ registered: [], missing: ["Stop"] })).toBe("missing");
  expect(kind({ drift: true, missing: ["Stop"] })).toBe("drifted");
  expect(kind({ problem: "the file is no JSON", registered: [] })).toBe("broken");
  expect(hookTrouble({ ...hooks, drift: true, stale: ["Stop"], registered: ["SessionEnd"], fix: "flightdeck hooks repair" })).toMatchObject({ fix: "flightdeck hooks repair", text: expect.stringContaining("(Stop)") as string });
});

test("a role the page does not know is drawn calmly", () => {
  expect([lookOf("urgent"), lookOf("brandnew" as Role)]).toEqual(["blocked", "idle"]);
});

test("only entering a need alerts, never a fresh session or the first snapshot", () => {
  const working = session();
  const asks = session({ group: "needs_you", state: "needs_permission", kind: "attention_needed" });
  const idle = session({ group: "needs_you", state: "idle", kind: "idle" });
  const enters = (before: typeof working | null, after: typeof working, discovered = false) => entersNeed({ before, after, discovered });
  expect(enters(working, asks)).toBe(true);
  expect(enters(working, idle)).toBe(true);
  expect(enters(idle, asks)).toBe(true);
  expect(enters(asks, idle)).toBe(false);
  expect(enters(asks, asks)).toBe(false);
  expect(enters(null, asks)).toBe(false);
  expect(enters(null, idle, true)).toBe(false);
  expect(enters(working, { ...idle, turn_count: 0 })).toBe(false);
});

test("quiet hours may span midnight", () => {
  const hours = (quietFrom: string, quietTo: string) => ({ quiet: true, quietFrom, quietTo }) as AlertSettings;
  expect([isQuiet(hours("22:00", "07:00"), "23:30"), isQuiet(hours("22:00", "07:00"), "06:59"), isQuiet(hours("22:00", "07:00"), "12:00")]).toEqual([true, true, false]);
  expect([isQuiet(hours("12:00", "13:00"), "12:30"), isQuiet(hours("12:00", "13:00"), "13:00")]).toEqual([true, false]);
});

test("the tab icon lights only for blocked agents on a live line", () => {
  expect(faviconUrl(7, false)).toContain("F2B33D");
  expect(faviconUrl(0, false)).not.toContain("F2B33D");
  expect(faviconUrl(7, true)).not.toContain("F2B33D");
});

const event = (seq: number, name: string, at: number, payload: Record<string, unknown> = {}): TimelineEvent => ({ seq, id: `e${seq}`, fired_at: new Date(at).toISOString(), received_at: new Date(at).toISOString(), source: "hook", name, agent_id: null, by_person: name === "UserPromptSubmit", summary: name, payload });

test("a tool call and its end are one step with a duration, newest first", () => {
  const steps = stepsFrom([event(1, "UserPromptSubmit", 0), event(2, "PreToolUse", 1000, { tool_use_id: "a" }), event(3, "PreToolUse", 2000, { tool_use_id: "b" }), event(4, "PostToolUseFailure", 32_400, { tool_use_id: "a" })]);
  expect(steps.map((s) => [s.event.seq, stepMs(s), s.failed])).toEqual([[3, null, false], [2, 31_400, true], [1, null, false]]);
});

test("the conversation is what was asked and how turns ended", () => {
  const said = saidIn([event(1, "UserPromptSubmit", 0, { prompt: "fix" }), event(2, "PreToolUse", 1), event(3, "Stop", 2, { last_assistant_message: "done" }), event(4, "Stop", 3)]);
  expect(said.map((s) => [s.you, s.text])).toEqual([[true, "fix"], [false, "done"]]);
});

const at = (min: number) => new Date(Date.UTC(2026, 10, 15, 18, min)).toISOString();

test("a live change ends the open span and begins the next", () => {
  const row: FleetHistoryRow = { id: "s1", title: "Fix it", project: "api", spans: [{ from: at(0), to: null, group: "running", state: "thinking", role: "working", label: "Thinking" }] };
  const after = session({ group: "needs_you", state: "idle", role: "calm" });
  after.agent_state.since = at(5);
  const [changed] = extend([row], { before: null, after, discovered: false });
  expect(changed?.spans.map((s) => [s.state, s.from, s.to])).toEqual([["thinking", at(0), at(5)], ["idle", at(5), null]]);
  const rows = changed ? [changed] : [];
  expect(extend(rows, { before: null, after, discovered: false })).toBe(rows);
});

test("stretches that ended before the window are let go, and rows that have no other", () => {
  const span = (from: number, to: number | null) => ({ from: at(from), to: to === null ? null : at(to), group: "running" as const, state: "thinking" as const, role: "working" as const, label: "" });
  const row = (id: string, spans: FleetHistoryRow["spans"]): FleetHistoryRow => ({ id, title: null, project: "api", spans });
  const lasting = row("lasting", [span(0, null)]);
  const kept = prune([row("busy", [span(0, 5), span(5, 20), span(20, null)]), row("over", [span(0, 9)]), lasting], Date.parse(at(10)));
  expect(kept.map((r) => [r.id, r.spans.map((s) => s.from)])).toEqual([["busy", [at(5), at(20)]], ["lasting", [at(0)]]]);
  expect(kept[1]).toBe(lasting);
});

test("time waited counts what stands still, inside the window only", () => {
  const window = { start: Date.parse(at(10)), end: Date.parse(at(40)) };
  const row: FleetHistoryRow = { id: "a", title: null, project: "api", spans: [
    { from: at(0), to: at(20), group: "needs_you", state: "needs_permission", role: "urgent", label: "" },
    { from: at(20), to: at(30), group: "running", state: "acting", role: "working", label: "" },
    { from: at(30), to: null, group: "needs_you", state: "error", role: "red", label: "" },
  ] };
  expect(waitedMs(row, window)).toBe(20 * 60_000);
  expect(summarise([row], window)).toEqual({ stopped: 0, turns: 0, failed: 1, ended: 0 });
  expect(axisTicks(window).length).toBeGreaterThan(3);
});

test("a turn is over when work is, not when a session starts, nor when it ends", () => {
  const window = { start: Date.parse(at(0)), end: Date.parse(at(60)) };
  const idle = { group: "needs_you", state: "idle", role: "calm", label: "" } as const;
  const work = { group: "running", state: "acting", role: "working", label: "" } as const;
  const over = { group: "done", state: "session_ended", role: "muted", label: "" } as const;
  const spans = [idle, work, idle, work, idle, over].map((kind, i) => ({ from: at(i * 9), to: at(i * 9 + 9), ...kind }));
  const fresh = { id: "b", title: null, project: "api", spans: spans.slice(0, 1) };
  expect(summarise([{ id: "a", title: null, project: "api", spans }, fresh], window)).toEqual({ stopped: 0, turns: 2, failed: 0, ended: 1 });
});
