/** Which assignments the log shows. The daemon filters by words, project, state and time; the page filters the rest. */
import type { Assignment } from "../generated/Assignment";
import { time } from "../lib/clock";
import type { AssignmentQuery } from "../live/api";

export const OUTCOMES = {
  any: "Any",
  waiting: "Waits for you",
  working: "Working",
  completed: "Completed",
  ended: "Ended",
  died: "Died",
} as const;
export type Outcome = keyof typeof OUTCOMES;

export const PERIODS = {
  today: "Today",
  week: "Last 7 days",
  month: "Last 30 days",
  all: "All time",
} as const;
export type Period = keyof typeof PERIODS;
const PERIOD_DAYS: Record<Exclude<Period, "all">, number> = { today: 1, week: 7, month: 30 };

export type LogFilter = { text: string; project: string | null; outcome: Outcome; period: Period };
export const NO_LOG_FILTER: LogFilter = { text: "", project: null, outcome: "any", period: "week" };

/** The midnight at which the period begins; null for all time. */
export function periodStart(period: Period, now: number): number | null {
  if (period === "all") return null;
  const day = new Date(now);
  day.setHours(0, 0, 0, 0);
  day.setDate(day.getDate() - (PERIOD_DAYS[period] - 1));
  return day.getTime();
}

const STATES: Partial<Record<Outcome, string>> = {
  waiting: "awaiting_input",
  working: "open",
  completed: "complete",
  ended: "complete",
  died: "complete",
};

/** What the daemon is asked for. */
export function queryOf(
  { text, project, outcome, period }: LogFilter,
  now: number,
): Omit<AssignmentQuery, "limit"> {
  const state = STATES[outcome];
  const start = periodStart(period, now);
  const words = text.trim();
  return {
    ...(words !== "" && { text: words }),
    ...(project !== null && { project }),
    ...(state !== undefined && { state }),
    ...(start !== null && { since: new Date(start).toISOString() }),
  };
}

function hasOutcome({ state, outcome }: Assignment, wanted: Outcome): boolean {
  if (wanted === "any") return true;
  if (wanted === "waiting") return state === "awaiting_input";
  if (wanted === "working") return state !== "awaiting_input" && state !== "complete";
  return outcome === wanted;
}

/** What the daemon searches too. */
const searched = (a: Assignment) =>
  [a.title, a.last_message, a.project.name, a.project.worktree, a.seat].join("\n").toLowerCase();

/** Every word of the text must be found somewhere. A live change is filtered like what the daemon found. */
export function matchesLogFilter(assignment: Assignment, filter: LogFilter, now: number): boolean {
  const start = periodStart(filter.period, now);
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return (
    (filter.project === null || assignment.project.name === filter.project) &&
    hasOutcome(assignment, filter.outcome) &&
    (start === null || assignment.completed_at === null || time(assignment.completed_at) >= start) &&
    words.every((word) => searched(assignment).includes(word))
  );
}
