/** The loaded rows of the log: how a page and a live change are put among them. */
import type { Reading } from "../assignment/times";
import type { Assignment } from "../generated/Assignment";

/** Newest first, as the daemon sorts: by the time of opening, then by id. */
const newestFirst = (a: Assignment, b: Assignment): number =>
  a.opened_at !== b.opened_at ? (a.opened_at < b.opened_at ? 1 : -1) : a.id < b.id ? 1 : -1;

/** A change sent by the stream has no cost; the known one stays. */
function put(known: Reading | undefined, next: Reading): Reading {
  const cost = next.assignment.cost ?? known?.assignment.cost ?? null;
  return { ...next, assignment: { ...next.assignment, cost } };
}

const merged = (rows: Reading[], more: Reading[]): Reading[] => {
  const byId = new Map(rows.map((row) => [row.assignment.id, row]));
  for (const row of more) byId.set(row.assignment.id, put(byId.get(row.assignment.id), row));
  return [...byId.values()].sort((a, b) => newestFirst(a.assignment, b.assignment));
};

const read = (assignments: Assignment[], readAt: number): Reading[] =>
  assignments.map((assignment) => ({ assignment, readAt }));

export const withPage = (rows: Reading[], page: Assignment[], readAt: number): Reading[] =>
  merged(rows, read(page, readAt));

/**
 * Adds live changes. While older pages exist, an assignment that is older than every loaded row is left out:
 * it is loaded with its page.
 */
export function withChangedAssignments(
  rows: Reading[],
  changed: Assignment[],
  readAt: number,
  hasMore: boolean,
): Reading[] {
  const oldest = rows.at(-1)?.assignment;
  const belongs = (a: Assignment) => !hasMore || (oldest !== undefined && newestFirst(a, oldest) <= 0);
  return merged(rows, read(changed.filter(belongs), readAt));
}
