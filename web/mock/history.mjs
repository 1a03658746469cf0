//! A past for the seeded fleet: events, an explanation, and spans for the overview.
import { STATES, random } from "./seed.mjs";

const iso = (ms) => new Date(ms).toISOString();
const hash = (text) => [...text].reduce((h, c) => (h * 31 + c.charCodeAt(0)) >>> 0, 7);

const WALK = ["thinking", "acting", "acting", "needs_permission", "acting", "thinking", "idle", "thinking", "acting", "awaiting_input", "thinking", "waiting_background", "acting", "thinking", "acting", "needs_permission", "acting", "error", "thinking", "acting", "idle", "thinking", "acting", "interrupted"];

/** Spans from `sinceMs` to the state the session is in now. Part of the middle is a long wait: the person was away. */
export function spansOf(s, sinceMs, now) {
  const rnd = random(hash(s.id));
  const last = Date.parse(s.agent_state.since);
  const spans = [];
  let at = Math.max(sinceMs, last - (0.5 + rnd() * 4) * 3_600_000);
  let i = Math.floor(rnd() * WALK.length);
  while (at < last) {
    const state = WALK[i++ % WALK.length];
    const away = now - at > 2_400_000 && now - at < 6_000_000;
    const [group, , role] = STATES[state];
    const long = group === "needs_you" ? (state === "error" ? 300_000 : away ? 2_400_000 : 150_000) : 420_000;
    const to = Math.min(last, at + 20_000 + rnd() * long);
    spans.push({ from: iso(at), to: iso(to), group, state, label: labelOf(state), role });
    at = to;
  }
  const { group, state, label, role, since } = s.agent_state;
  return [...spans, { from: since, to: null, group, state, label, role }];
}

const LABELS = { needs_permission: "Permission for Bash: cargo test", awaiting_input: "How should a failed delivery be retried?", error: "Failed: rate limit", interrupted: "You interrupted Bash", idle: "Waiting for your next prompt", waiting_background: "Waiting on 2 background agents", acting: "Bash: cargo test", thinking: "Thinking" };
const labelOf = (state) => LABELS[state] ?? state;

export function eventsOf(s, now) {
  const out = [];
  let seq = hash(s.id) % 50_000;
  const add = (at, name, summary, payload = {}, agent_id = null) =>
    out.push({ seq: ++seq, id: `${s.id}-${seq}`, fired_at: iso(at), received_at: iso(at + 3), source: "hook", name, agent_id, by_person: name === "UserPromptSubmit", summary, payload: { hook_event_name: name, session_id: s.id, ...payload } });
  const end = Math.min(now, Date.parse(s.agent_state.since));
  let at = end - 900_000;
  add(at, "SessionStart", "Started", { source: "startup" });
  add((at += 4_000), "UserPromptSubmit", s.last_user_message ?? s.title ?? "", { prompt: s.last_user_message ?? s.title });
  const calls = [["Grep", "flush_interval", 200, false], ["Read", "sink/batch_writer.go", 80, false], ["Bash", "go test -run Stall ./sink", 22_800, false], ["Bash", "go test ./sink/...", 31_400, true], ["Edit", "sink/batch_writer.go", 90, false], ["Bash", "go test ./sink/...", 28_100, false], ["Edit", "sink/batch_writer_test.go", 70, false]];
  for (const [i, [tool, what, ms, failed]] of calls.entries()) {
    const input = tool === "Bash" ? { command: what } : tool === "Grep" ? { pattern: what } : { file_path: what };
    const call = { tool_name: tool, tool_input: input, tool_use_id: `toolu_${seq}` };
    add((at += 30_000 + i * 1000), "PreToolUse", `${tool} ${what}`, call);
    add((at += ms), failed ? "PostToolUseFailure" : "PostToolUse", failed ? "exit 1" : `${tool} done`, call);
  }
  add((at += 8_000), "Stop", "Finished turn 1", { last_assistant_message: "The flush goroutine holds `mu` while it waits on a full channel, so `Append` blocks behind it.\n\nThe batch is now swapped out under the lock and sent after it is released. One test still fails; I do not yet know whether it is the test or the fix." });
  add((at += 40_000), "UserPromptSubmit", "Good. The sink in production takes up to 4 s per batch, use that.", { prompt: "Good. The sink in production takes up to 4 s per batch, use that." });
  add((at += 20_000), "PreCompact", "Compacted 871k to 212k tokens");
  for (const a of s.sub_agents) add((at += 2_000), "SubagentStart", `Started ${a.type}`, { agent_type: a.type }, a.id);
  for (const a of s.asks) add(Date.parse(a.opened_at), "PermissionRequest", s.agent_state.label, { tool_name: a.tool_name, tool_input: a.tool_input });
  return out;
}

export function explain(s, events, now) {
  const last = events.at(-1);
  const spans = spansOf(s, now - 4 * 3_600_000, now);
  return {
    state: s.agent_state.state, since: s.agent_state.since,
    because: { seq: last?.seq ?? null, name: last?.name ?? "SessionStart", rule: s.status.kind === "attention_needed" ? "A permission request blocks the session at once." : "The newest event of the main agent decides.", payload: last?.payload },
    history: spans.map((span, i) => ({ at: span.from, from: spans[i - 1]?.state ?? null, to: span.state, role: span.role, because: null })),
  };
}
