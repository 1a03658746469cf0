/**
 * Counts over the whole fleet for the header, the browser tab and the phone tabs, computed once per update.
 * `needs` is the one number shown everywhere: sessions that block or ask.
 */
import { computed } from "@preact/signals";
import type { WaitKind } from "../generated/WaitKind";
import { allSessions, revision } from "./store";

export type FleetCounts = Record<WaitKind, number> & {
  needs: number;
  /** Put aside by the person; counted here and nowhere else. */
  parked: number;
  /** When the session started that has blocked for the longest time. */
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
    needs: 0,
    blocks: 0,
    asks: 0,
    failed: 0,
    interrupted: 0,
    idle: 0,
    parked: 0,
    longestSince: null,
    running: 0,
    delegating: 0,
    quiet: 0,
    done: 0,
    usdMicros: null,
  };
  for (const held of allSessions()) {
    const { agent_state, waiting, parked, quiet_since, cost } = held.peek();
    if (agent_state.group === "running") counts.running++;
    if (agent_state.group === "done") counts.done++;
    if (agent_state.state === "delegating") counts.delegating++;
    if (quiet_since) counts.quiet++;
    if (cost) counts.usdMicros = (counts.usdMicros ?? 0) + cost.usd_micros;
    if (parked) counts.parked++;
    else if (waiting) counts[waiting.kind]++;
    if (waiting?.counts && !parked) counts.needs++;
    if (waiting?.kind === "blocks")
      counts.longestSince = Math.min(counts.longestSince ?? Infinity, Date.parse(agent_state.since));
  }
  return counts;
}
