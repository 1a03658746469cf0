/** The loaded efforts: how a page and live changes are put among them. */
import type { Effort } from "../generated/Effort";

/** As the daemon sorts: the active ones, then the finished ones, the newest first. */
function inOrder(a: Effort, b: Effort): number {
  if (a.lifecycle !== b.lifecycle) return a.lifecycle === "active" ? -1 : 1;
  if (a.started_at !== b.started_at) return a.started_at < b.started_at ? 1 : -1;
  return a.id < b.id ? 1 : -1;
}

/** A change sent by the stream has no cost; the known one stays. */
const put = (known: Effort | undefined, next: Effort): Effort => ({
  ...next,
  cost: next.cost ?? known?.cost ?? null,
});

export function merged(rows: Effort[], more: Effort[]): Effort[] {
  const byId = new Map(rows.map((effort) => [effort.id, effort]));
  for (const effort of more) byId.set(effort.id, put(byId.get(effort.id), effort));
  return [...byId.values()].sort(inOrder);
}

/** Live changes. While older pages exist, an effort that comes after every loaded one is left out: it is loaded with its page. */
export function withChangedEfforts(rows: Effort[], changed: Effort[], hasMore: boolean): Effort[] {
  const last = rows.at(-1);
  const known = new Set(rows.map((effort) => effort.id));
  const belongs = (effort: Effort) =>
    !hasMore || known.has(effort.id) || last === undefined || inOrder(effort, last) < 0;
  return merged(rows, changed.filter(belongs));
}
