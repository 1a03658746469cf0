import type { FleetHistoryRow } from "../generated/FleetHistoryRow";
import { activityOverTime, type Window } from "./summary";

const BUCKETS = 120;
const H = 46;

/** The number of working and waiting sessions over time. */
export function ActivityChart({ rows, window }: { rows: FleetHistoryRow[]; window: Window }) {
  const { working, waiting, most } = activityOverTime(rows, window, BUCKETS);
  // The line starts where the first session ran, not with zeros.
  const first = Math.max(0, working.findIndex((n, i) => n + (waiting[i] ?? 0) > 0) - 1);
  const line = (values: number[]) =>
    values
      .slice(first)
      .map((v, i) => `${i ? "L" : "M"}${i + first} ${(H - (v / most) * (H - 4)).toFixed(1)}`)
      .join(" ");
  const area = (values: number[]) => `${line(values)} L${BUCKETS - 1} ${H} L${first} ${H}z`;
  return (
    <svg
      class="activity-chart"
      viewBox={`0 0 ${BUCKETS - 1} ${H}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`At most ${Math.max(...working)} sessions worked and ${Math.max(...waiting)} waited at once`}
    >
      <path class="working" d={area(working)} />
      <path class="waiting" d={area(waiting)} />
      <path class="waiting-line" d={line(waiting)} />
    </svg>
  );
}
