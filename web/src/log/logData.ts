/** The data of the log: pages from the daemon, then live changes. */
import { effect, signal } from "@preact/signals";
import type { Reading } from "../assignment/times";
import type { Assignment } from "../generated/Assignment";
import { pagedList } from "../lib/pagedList";
import { getAssignment, getAssignments } from "../live/api";
import { onAssignmentChanges } from "../live/store";
import { isOffline } from "../live/stream";
import { withChangedAssignments, withPage } from "./entries";
import { type LogFilter, NO_LOG_FILTER, queryOf } from "./filter";

const PAGE_ROWS = 100;
/** The daemon is asked when the person has not typed for this time. */
const TYPED_MS = 250;
/** Older rows are loaded by scrolling up to this number; beyond it by a button. */
export const AUTO_ROWS_MAX = 5_000;

export const logFilter = signal<LogFilter>(NO_LOG_FILTER);
export const logRows = signal<Reading[]>([]);
/** Shortest time between two redraws, even if the fleet is busy. */
const FOLLOW_MS = 250;

/** The daemon reads the last lines of a transcript a moment after the assignment is complete. */
const COST_AFTER_MS = 3_000;

export const { nextBefore, loading, failure, reload, loadMore } = pagedList(
  (before) =>
    getAssignments({
      ...queryOf(logFilter.peek(), Date.now()),
      ...(before !== undefined && { before }),
      limit: PAGE_ROWS,
    }),
  (page, isFirst) => {
    logRows.value = withPage(isFirst ? [] : logRows.peek(), page.assignments, Date.now());
  },
);

/** Loads what the filter asks for, and follows changes until the returned function is called. */
export function followLog(): () => void {
  let wanted: { text: string; rest: string } | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stops = [
    effect(() => {
      const { text: typed, ...others } = logFilter.value;
      const [text, rest] = [typed.trim(), JSON.stringify(others)];
      // After a lost connection, changes may have been missed, so the list is read again.
      if (isOffline.value) wanted = null;
      if (isOffline.value || (text === wanted?.text && rest === wanted.rest)) return;
      const isTyping = rest === wanted?.rest;
      wanted = { text, rest };
      clearTimeout(timer);
      // Until the answer is there, it is not known whether more rows match.
      if (isTyping) nextBefore.value = undefined;
      if (isTyping) timer = setTimeout(() => void reload(), TYPED_MS);
      else void reload();
    }),
    () => clearTimeout(timer),
    followChanges(),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function followChanges(): () => void {
  let waiting: Assignment[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const apply = () => {
    // A page that is still being loaded may be older than the changes, so they are applied after it.
    timer = loading.peek() ? setTimeout(apply, FOLLOW_MS) : undefined;
    if (timer !== undefined) return;
    const changed = waiting;
    waiting = [];
    putChanges(changed);
    for (const { id, state } of changed)
      if (state === "complete") setTimeout(() => void readCost(id), COST_AFTER_MS);
  };
  const stop = onAssignmentChanges((changed) => {
    waiting.push(...changed);
    timer ??= setTimeout(apply, FOLLOW_MS);
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}

const putChanges = (changed: Assignment[]) => {
  logRows.value = withChangedAssignments(logRows.peek(), changed, Date.now(), nextBefore.peek() !== null);
};

/** The stream does not send what an assignment cost. */
async function readCost(id: string): Promise<void> {
  const known = await getAssignment(id).catch((): Assignment | null => null);
  if (known) putChanges([known]);
}
