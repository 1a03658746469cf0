/** Groups of the log: days with their projects, or projects with their days, each with its sums. */
import { type Reading, timesAt } from "../assignment/times";
import { time } from "../lib/clock";
import { groupBy } from "../lib/groupBy";

export type GroupOrder = "day" | "project";

export type Sums = { assignments: number; workingMs: number; waitingMs: number; usdMicros: number };
export type Group = { key: string; rows: Reading[] };
/** `parts` are its projects or its days. */
export type LogSection = Group & { parts: Group[] };

/** The local day of a moment: 2026-11-18. */
export function dayOf(ms: number): string {
  const day = new Date(ms);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

const dayKey = ({ assignment }: Reading) => dayOf(time(assignment.opened_at));
const projectKey = ({ assignment }: Reading) => assignment.project.name;

const groups = (rows: Reading[], key: (row: Reading) => string): Group[] =>
  [...groupBy(rows, key)].map(([key, rows]) => ({ key, rows }));

/** Days come newest first, as the rows do. Projects as sections are sorted by name; within a day the one asked last comes first. */
export function sections(rows: Reading[], order: GroupOrder): LogSection[] {
  const [outer, inner] = order === "day" ? [dayKey, projectKey] : [projectKey, dayKey];
  const found = groups(rows, outer).map((group) => ({ ...group, parts: groups(group.rows, inner) }));
  return order === "day" ? found : found.sort((a, b) => a.key.localeCompare(b.key));
}

export function sumsOf(rows: Reading[], now: number): Sums {
  const sums: Sums = { assignments: rows.length, workingMs: 0, waitingMs: 0, usdMicros: 0 };
  for (const row of rows) {
    const { workingMs, waitingMs } = timesAt(row, now);
    sums.workingMs += workingMs;
    sums.waitingMs += waitingMs;
    sums.usdMicros += row.assignment.cost?.usd_micros ?? 0;
  }
  return sums;
}

const DAY_MS = 86_400_000;

/** "Today", "Yesterday", else the weekday; and the date. */
export function dayName(day: string, now: number): { name: string; date: string } {
  const at = new Date(`${day}T12:00:00`);
  const name =
    day === dayOf(now)
      ? "Today"
      : day === dayOf(now - DAY_MS)
        ? "Yesterday"
        : at.toLocaleDateString("en-GB", { weekday: "long" });
  const year = day.slice(0, 4) === dayOf(now).slice(0, 4) ? undefined : "numeric";
  return { name, date: at.toLocaleDateString("en-GB", { day: "numeric", month: "long", year }) };
}
