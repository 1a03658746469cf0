/** Counts over the whole fleet for the header and the browser tab, computed once per update. */
import { computed } from "@preact/signals";
import { allSessions, revision } from "./store";

export type FleetCounts = {
  needsYou: number;
  /** Agents that are stopped in the middle of a turn until the person acts. */
  blocked: number;
  longestSince: number | null;
  running: number;
  delegating: number;
  quiet: number;
  done: number;
  /** Null while no cost is known, which is not the same as zero. */
  usdMicros: number | null;
};

let last: FleetCounts | null = null;

/** Returns the same object if nothing changed, so the header is not redrawn. */
export const fleetCounts = computed<FleetCounts>(() => {
  void revision.value;
  const counts = count();
  if (!last || JSON.stringify(last) !== JSON.stringify(counts)) last = counts;
  return last;
});

function count(): FleetCounts {
  const counts: FleetCounts = {
    needsYou: 0,
    blocked: 0,
    longestSince: null,
    running: 0,
    delegating: 0,
    quiet: 0,
    done: 0,
    usdMicros: null,
  };
  for (const held of allSessions()) {
    const s = held.peek();
    const { group, state } = s.agent_state;
    if (group === "needs_you") counts.needsYou++;
    else if (group === "running") counts.running++;
    else counts.done++;
    if (state === "delegating") counts.delegating++;
    if (s.quiet_since) counts.quiet++;
    if (s.cost) counts.usdMicros = (counts.usdMicros ?? 0) + s.cost.usd_micros;
    if (s.status.kind === "attention_needed") {
      counts.blocked++;
      const since = Date.parse(s.agent_state.since);
      if (counts.longestSince === null || since < counts.longestSince) counts.longestSince = since;
    }
  }
  return counts;
}
