/** The data of the overview: history from the daemon, then live changes. */
import { signal } from "@preact/signals";
import type { FleetHistoryRow } from "../generated/FleetHistoryRow";
import type { FleetSpan } from "../generated/FleetSpan";
import type { Session } from "../generated/Session";
import { time } from "../lib/clock";
import { getFleetHistory } from "../live/api";
import { allSessions, onSessionChanges, type SessionChange } from "../live/store";

export const historyRows = signal<FleetHistoryRow[]>([]);
/** True if the daemon could not send the history; then rows start with what this page has seen. */
export const historyMissing = signal(false);

export async function loadHistory(sinceMs: number): Promise<void> {
  try {
    const { sessions } = await getFleetHistory(new Date(sinceMs).toISOString());
    historyRows.value = withLive(
      sessions,
      Array.from(allSessions(), (held) => held.peek()),
    );
    historyMissing.value = false;
  } catch {
    historyRows.value = withLive(
      [],
      Array.from(allSessions(), (held) => held.peek()),
    );
    historyMissing.value = true;
  }
}

const spanOf = ({ agent_state: a }: Session): FleetSpan => ({
  from: a.since,
  to: null,
  group: a.group,
  state: a.state,
  label: a.label,
  role: a.role,
});

/** Adds a row with its current state for each live session without history. */
function withLive(history: FleetHistoryRow[], live: Session[]): FleetHistoryRow[] {
  const known = new Set(history.map((row) => row.id));
  const missing = live
    .filter((s) => !known.has(s.id))
    .map((s) => ({ id: s.id, title: s.title, project: s.project.name, spans: [spanOf(s)] }));
  return [...history, ...missing];
}

/** Shortest time between two redraws, even if the fleet is busy. */
const FOLLOW_MS = 1_000;

/** Spans that ended before `since` are dropped. */
export function followHistory(since: () => number): () => void {
  let waiting: SessionChange[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = onSessionChanges((changes) => {
    waiting.push(...changes);
    timer ??= setTimeout(() => {
      historyRows.value = prune(waiting.reduce(extend, historyRows.peek()), since());
      waiting = [];
      timer = undefined;
    }, FOLLOW_MS);
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}

/** Ends the open span and starts the next if the state changed. */
export function extend(all: FleetHistoryRow[], { after }: SessionChange): FleetHistoryRow[] {
  const at = all.findIndex((row) => row.id === after.id);
  const row = all[at];
  const next = spanOf(after);
  if (!row) return [...all, { id: after.id, title: after.title, project: after.project.name, spans: [next] }];
  const last = row.spans.at(-1);
  if (last && last.to === null && last.state === next.state && row.title === after.title) return all;
  const sameState = last?.to === null && last.state === next.state;
  const spans = sameState
    ? row.spans
    : [...row.spans.slice(0, -1), ...(last ? [{ ...last, to: last.to ?? next.from }] : []), next];
  return all.with(at, { ...row, title: after.title, spans });
}

/** Otherwise a page that stays open would keep every span it ever saw. */
export function prune(all: FleetHistoryRow[], since: number): FleetHistoryRow[] {
  const recent = (span: FleetSpan) => span.to === null || time(span.to) >= since;
  return all.flatMap((row) => {
    if (row.spans.every(recent)) return [row];
    const spans = row.spans.filter(recent);
    return spans.length > 0 ? [{ ...row, spans }] : [];
  });
}
