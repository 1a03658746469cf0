/** A small line chart over time with a dot at the current value. */
import { clockTime } from "../lib/format";

export type Point = { at: number; value: number };

const W = 296;
const H = 74;
const BASE = 60;
const TOP = 6;

export function Chart({ points, max, label }: { points: Point[]; max: number; label: string }) {
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last || points.length < 2) return null;
  const width = Math.max(1, last.at - first.at);
  const x = (at: number) => ((at - first.at) / width) * (W - 3);
  const y = (value: number) => BASE - (Math.min(value, max) / Math.max(max, 1e-9)) * (BASE - TOP);
  const line = points
    .map((p, i) => `${i ? "L" : "M"}${x(p.at).toFixed(1)} ${y(p.value).toFixed(1)}`)
    .join(" ");
  return (
    <svg class="chart" viewBox={`0 0 ${W} ${H}`} role="img" aria-label={label}>
      <path class="grid" d={`M0 ${BASE}H${W}`} />
      <path class="area" d={`${line} L${x(last.at).toFixed(1)} ${BASE} L0 ${BASE}z`} />
      <path class="ink" d={line} />
      <circle class="at" cx={x(last.at)} cy={y(last.value)} r="2.5" />
      <text x="0" y={H}>
        {clockTime(first.at)}
      </text>
      <text x={W} y={H} text-anchor="end">
        {clockTime(last.at)}
      </text>
    </svg>
  );
}
