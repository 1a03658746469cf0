//! Makes the seeded fleet live: each step moves one session the way sessions move.
import { acting, money, place, rank, setState } from "./seed.mjs";

const NEXT = {
  thinking: ["acting", "acting", "acting", "idle", "awaiting_input"], acting: ["thinking", "thinking", "needs_permission", "acting"],
  needs_permission: ["acting"], awaiting_input: ["thinking"], awaiting_approval: ["thinking"], interrupted: ["thinking"], error: ["thinking"],
  idle: ["thinking"], delegating: ["thinking"], compacting: ["thinking"], waiting_background: ["thinking"],
};

/** Mostly data changes; now and then a change of state. What needs a person mostly stays. */
export function step(fleet, rnd, now) {
  const live = fleet.all().filter((s) => s.agent_state.group !== "done");
  const s = live[Math.floor(rnd() * live.length)];
  if (!s) return null;
  const { state, group } = s.agent_state;
  s.last_activity_at = new Date(now).toISOString();
  if (group === "needs_you" && rnd() > 0.08) return touch(s, rnd);
  if (group === "running" && rnd() > 0.3) return touch(s, rnd);
  const choices = NEXT[state] ?? ["thinking"];
  const to = choices[Math.floor(rnd() * choices.length)];
  s.sub_agents = [];
  s.background = { agents: 0, shells: 0 };
  if (group === "needs_you") { s.turn_count++; s.current_turn_started_at = new Date(now).toISOString(); s.seen = false; }
  if (to === "acting") { s.asks = []; acting(s, now, rnd); }
  else if (to === "thinking") { s.asks = []; s.current_activity = null; setState(s, "thinking", "Thinking", { since: now }); }
  else { place(s, to, now, () => 0.001 + rnd() * 0.2); setState(s, to, s.agent_state.label, { ...s.status, since: now }); }
  return s;
}

function touch(s, rnd) {
  money(s, (s.cost?.usd_micros ?? 0) + rnd() * 4_000);
  if (s.context) {
    const percent = Math.min(95, s.context.percent + rnd() * 0.2);
    s.context = { ...s.context, percent: Math.round(percent * 10) / 10, tokens: Math.round(percent * 10_000) };
  }
  rank(s);
  return s;
}
