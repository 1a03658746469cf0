/** Sums for the overview: how long sessions waited, and how many worked or waited at each moment. */

import { type Appearance, roleAppearance } from "../card/appearance";
import type { FleetHistoryRow } from "../generated/FleetHistoryRow";
import type { FleetSpan } from "../generated/FleetSpan";
import { time } from "../lib/clock";

export type Window = { start: number; end: number };

const overlapMs = (span: FleetSpan, { start, end }: Window): number =>
  Math.max(0, Math.min(span.to ? time(span.to) : end, end) - Math.max(time(span.from), start));

const appearance = (span: FleetSpan): Appearance => roleAppearance(span.role);
export const isWaiting = (span: FleetSpan) => ["blocked", "asking", "failed"].includes(appearance(span));

export const waitedMs = (row: FleetHistoryRow, window: Window): number =>
  row.spans.reduce((sum, span) => sum + (isWaiting(span) ? overlapMs(span, window) : 0), 0);

/** Numbers of sessions that stopped, failed or ended, and of finished turns. */
export type Summary = { stopped: number; turns: number; failed: number; ended: number };

/** Counts what started inside the window. */
export function summarise(rows: FleetHistoryRow[], window: Window): Summary {
  const sum: Summary = { stopped: 0, turns: 0, failed: 0, ended: 0 };
  for (const row of rows) {
    const looks = row.spans.map(appearance);
    const begun = (_: Appearance, i: number) => {
      const at = time(row.spans[i]?.from ?? "");
      return at >= window.start && at < window.end;
    };
    const recent = looks.filter(begun);
    if (recent.some((l) => l === "blocked" || l === "asking")) sum.stopped++;
    if (recent.includes("failed")) sum.failed++;
    if (recent.includes("ended")) sum.ended++;
    // A new session is idle too, but it did not finish a turn.
    sum.turns += looks.filter((l, i) => l === "idle" && begun(l, i) && looks[i - 1] === "running").length;
  }
  return sum;
}

export type Activity = { working: number[]; waiting: number[]; most: number };

export function activityOverTime(rows: FleetHistoryRow[], window: Window, buckets: number): Activity {
  const working = new Array<number>(buckets).fill(0);
  const waiting = new Array<number>(buckets).fill(0);
  const width = (window.end - window.start) / buckets;
  for (const span of rows.flatMap((row) => row.spans)) {
    const into = appearance(span) === "running" ? working : isWaiting(span) ? waiting : null;
    if (!into) continue;
    const first = Math.max(0, Math.floor((time(span.from) - window.start) / width));
    const last = Math.min(
      buckets - 1,
      Math.floor(((span.to ? time(span.to) : window.end) - window.start) / width),
    );
    for (let i = first; i <= last; i++) into[i] = (into[i] ?? 0) + 1;
  }
  return { working, waiting, most: Math.max(1, ...working, ...waiting) };
}

/** Round clock times for about eight axis labels. */
export function axisTicks({ start, end }: Window): number[] {
  const steps = [5, 10, 15, 30, 60, 120, 180, 360].map((min) => min * 60_000);
  const step = steps.find((s) => (end - start) / s <= 9) ?? 360 * 60_000;
  const offset = new Date(start).getTimezoneOffset() * 60_000;
  const ticks: number[] = [];
  for (let t = Math.ceil((start - offset) / step) * step + offset; t < end - step / 3; t += step)
    ticks.push(t);
  return ticks;
}
