//! Hook payloads to sessions, roughly as STATES says: enough for the page's tests to drive the mock exactly as they
//! drive the daemon. The daemon's own table is the real one; nothing here is a reference.
import { ask, blank, caution, setState } from "./seed.mjs";

const iso = (ms) => new Date(ms).toISOString();
const summary = (input) => input?.command ?? input?.file_path ?? input?.pattern ?? "";

export function applyHook(fleet, payload, now) {
  const name = payload.hook_event_name;
  let s = fleet.get(payload.session_id);
  const discovered = !s;
  if (!s) {
    s = blank(payload.session_id, payload.cwd, now);
    fleet.put(s);
  }
  s.last_activity_at = iso(now);
  const opened = RULES[name]?.(s, payload, now) ?? null;
  return { session: s, discovered, opened, known: name in RULES };
}

const close = (s, how, now) => {
  for (const a of s.asks) a.resolution ??= { how, by: "terminal", at: iso(now), rule: null };
};
const child = (s, p) => s.sub_agents.find((a) => a.id === p.agent_id);

const RULES = {
  SessionStart: (s) => void setState(s, "idle", "Ready"),
  UserPromptSubmit(s, p, now) {
    close(s, "next_prompt", now);
    Object.assign(s, { title: s.title ?? p.prompt, last_user_message: p.prompt, turn_count: s.turn_count + 1, current_turn_started_at: iso(now), seen: false });
    setState(s, "thinking", "Thinking");
  },
  PreToolUse(s, p) {
    s.current_activity = summary(p.tool_input);
    if (p.tool_name === "AskUserQuestion") return void setState(s, "awaiting_input", p.tool_input.questions[0].question, { reason: p.tool_name });
    if (p.tool_name === "ExitPlanMode") return void setState(s, "awaiting_approval", "Plan ready", { reason: p.tool_name });
    setState(s, "acting", `${p.tool_name}: ${summary(p.tool_input)}`, { detail: p.tool_name, since: Date.now() });
  },
  PermissionRequest(s, p, now) {
    const kind = p.tool_name === "AskUserQuestion" ? "question" : p.tool_name === "ExitPlanMode" ? "plan" : "permission";
    const a = ask(s, { kind, tool_name: p.tool_name, tool_input: p.tool_input, questions: p.tool_input?.questions ?? null, suggestions: p.permission_suggestions ?? [], caution: caution(p.tool_input?.command), agent_id: p.agent_id ?? null }, now);
    s.asks = [...s.asks.filter((old) => !old.resolution), a];
    if (kind === "permission") setState(s, "needs_permission", `Permission for ${p.tool_name}: ${summary(p.tool_input)}`, { reason: `Permission for ${p.tool_name}` });
    return a;
  },
  PostToolUse(s, _p, now) {
    close(s, "answered_in_terminal", now);
    setState(s, "thinking", "Thinking");
  },
  PostToolUseFailure(s, p, now) {
    close(s, "answered_in_terminal", now);
    if (p.is_interrupt) return void setState(s, "interrupted", `You interrupted ${p.tool_name}`);
    s.last_failure = { tool: p.tool_name, error: p.error ?? null, at: iso(now) };
    setState(s, "thinking", "Thinking");
  },
  Stop(s, p, now) {
    close(s, "turn_ended", now);
    const agents = (p.background_tasks ?? []).filter((t) => t.type === "subagent" && t.status === "running").length;
    s.background = { agents, shells: 0 };
    if (agents) setState(s, "waiting_background", `Waiting on ${agents} background agents`);
    else setState(s, "idle", "Waiting for your next prompt");
  },
  StopFailure: (s, p) => void setState(s, "error", `Failed: ${p.error_type ?? p.error ?? "unknown"}`),
  SubagentStart(s, p, now) {
    s.sub_agents.push({ id: p.agent_id, type: p.agent_type, state: "working", label: null, started_at: iso(now), ended_at: null });
    setState(s, "delegating", `Running ${p.agent_type} subagent`, { detail: p.agent_type });
  },
  SubagentStop(s, p, now) {
    const agent = child(s, p);
    if (agent) Object.assign(agent, { state: "done", ended_at: iso(now) });
    if (s.sub_agents.every((a) => a.state === "done") && s.agent_state.state === "delegating") setState(s, "thinking", "Thinking");
  },
  PreCompact: (s) => void setState(s, "compacting", "Compacting"),
  PostCompact: (s) => void setState(s, "thinking", "Thinking"),
  SessionEnd(s, p, now) {
    close(s, "session_ended", now);
    Object.assign(s, { ended_at: iso(now), end_reason: p.reason ?? "other" });
    setState(s, "session_ended", "Session closed");
  },
};

/** Our own answers, as STATES §1 ends. */
export function applyAnswer(s, a, answer, now) {
  a.resolution = { how: answer.decision === "allow" ? "allowed" : answer.decision === "deny" ? "denied" : "cancelled", by: answer.via ?? "api", at: iso(now), rule: null };
  const open = s.asks.find((other) => !other.resolution);
  if (open) return;
  if (answer.interrupt) setState(s, "interrupted", `You interrupted ${a.tool_name}`);
  else if (answer.decision === "allow" && a.kind === "permission") setState(s, "acting", `${a.tool_name}: ${summary(a.tool_input)}`, { detail: a.tool_name });
  else setState(s, "thinking", "Thinking");
}
