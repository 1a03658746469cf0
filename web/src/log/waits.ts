/** How long agents waited for the person, by project and day: the numbers of the chart. */
import type { Digest } from "../generated/Digest";
import type { ProjectDigest } from "../generated/ProjectDigest";
import { dayOf } from "./groups";

export const CHART_DAYS = 7;
/** Projects with a row of their own; the others share one. */
const PROJECTS_MAX = 5;

export type WaitRow = { name: string; seconds: number[]; total: number };
export type Waits = { days: string[]; rows: WaitRow[]; most: number };

/** The last seven local days, oldest first. */
export function chartDays(now: number): string[] {
  return Array.from({ length: CHART_DAYS }, (_, i) => {
    const day = new Date(now);
    day.setHours(12, 0, 0, 0);
    day.setDate(day.getDate() - (CHART_DAYS - 1 - i));
    return dayOf(day.getTime());
  });
}

const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);

function addUp(name: string, projects: ProjectDigest[], days: string[]): WaitRow {
  const seconds = days.map((day) =>
    sum(projects.flatMap((p) => p.days.filter((d) => d.day === day).map((d) => d.waiting_seconds))),
  );
  return { name, seconds, total: sum(seconds) };
}

/** Projects without such a time are left out. All projects together come first, if there are several. */
export function waitsOf(digest: Digest, now: number): Waits {
  const days = chartDays(now);
  const waited = digest.projects
    .map((project) => ({ project, row: addUp(project.project, [project], days) }))
    .filter(({ row }) => row.total >= 1)
    .sort((a, b) => b.row.total - a.row.total);
  const own = waited.slice(0, waited.length > PROJECTS_MAX + 1 ? PROJECTS_MAX : PROJECTS_MAX + 1);
  const others = waited.slice(own.length);
  const rows = [
    ...(waited.length > 1
      ? [
          addUp(
            "All projects",
            waited.map(({ project }) => project),
            days,
          ),
        ]
      : []),
    ...own.map(({ row }) => row),
    ...(others.length > 0
      ? [
          addUp(
            `${others.length} others`,
            others.map(({ project }) => project),
            days,
          ),
        ]
      : []),
  ];
  return { days, rows, most: Math.max(1, ...rows.flatMap((row) => row.seconds)) };
}
