//! The strip's data: what the daemon remembers, and then what happens while the page looks on.
import { signal } from "@preact/signals";
import type { FleetHistoryRow } from "../generated/FleetHistoryRow";
import type { FleetSpan } from "../generated/FleetSpan";
import type { Session } from "../generated/Session";
import { time } from "../lib/clock";
import { getFleetHistory } from "../live/api";
import { allSessions, onMoves, type Move } from "../live/store";

export const rows = signal<FleetHistoryRow[]>([]);
/** Set when the daemon could not tell the past; the strip then starts with what the page has seen itself. */
export const historyMissing = signal(false);

export async function loadHistory(sinceMs: number): Promise<void> {
  try {
    const { sessions } = await getFleetHistory(new Date(sinceMs).toISOString());
    rows.value = withLive(sessions, Array.from(allSessions(), (held) => held.peek()));
    historyMissing.value = false;
  } catch {
    rows.value = withLive([], Array.from(allSessions(), (held) => held.peek()));
    historyMissing.value = true;
  }
}

const spanOf = ({ agent_state: a }: Session): FleetSpan => ({ from: a.since, to: null, group: a.group, state: a.state, label: a.label, role: a.role });

/** A live session the history does not have yet gets a row with the state it is in. */
function withLive(history: FleetHistoryRow[], live: Session[]): FleetHistoryRow[] {
  const known = new Set(history.map((row) => row.id));
  const missing = live.filter((s) => !known.has(s.id)).map((s) => ({ id: s.id, title: s.title, project: s.project.name, spans: [spanOf(s)] }));
  return [...history, ...missing];
}

/** The strip is drawn anew at most this often, however busy the fleet is. */
const FOLLOW_MS = 1_000;

/** `since`: what ended before it is not drawn, and let go. */
export function followHistory(since: () => number): () => void {
  let waiting: Move[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = onMoves((moves) => {
    waiting.push(...moves);
    timer ??= setTimeout(() => {
      rows.value = prune(waiting.reduce(extend, rows.peek()), since());
      waiting = [];
      timer = undefined;
    }, FOLLOW_MS);
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}

/** Ends the open span and begins the next, if the state changed. */
export function extend(all: FleetHistoryRow[], { after }: Move): FleetHistoryRow[] {
  const at = all.findIndex((row) => row.id === after.id);
  const row = all[at];
  const next = spanOf(after);
  if (!row) return [...all, { id: after.id, title: after.title, project: after.project.name, spans: [next] }];
  const last = row.spans.at(-1);
  if (last && last.to === null && last.state === next.state && row.title === after.title) return all;
  const sameState = last?.to === null && last.state === next.state;
  const spans = sameState ? row.spans : [...row.spans.slice(0, -1), ...(last ? [{ ...last, to: last.to ?? next.from }] : []), next];
  return all.with(at, { ...row, title: after.title, spans });
}

/** A page that stays open would keep every stretch it ever saw. */
export function prune(all: FleetHistoryRow[], since: number): FleetHistoryRow[] {
  const recent = (span: FleetSpan) => span.to === null || time(span.to) >= since;
  return all.flatMap((row) => {
    if (row.spans.every(recent)) return [row];
    const spans = row.spans.filter(recent);
    return spans.length > 0 ? [{ ...row, spans }] : [];
  });
}
