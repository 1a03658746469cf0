/**
 * One span of a state. Height shows it as well as colour: waiting is tall, work is half as high, idle is a
 * line.
 */
import type { CSSProperties } from "preact";
import type { Appearance } from "../card/appearance";

type StateSegmentProps = {
  appearance: Appearance;
  state: string;
  from: number;
  to: number;
  start: number;
  end: number;
  title?: string;
  index?: number;
};

const CLASSES: Record<Appearance, string> = {
  blocked: "blocked",
  asking: "asks",
  failed: "fail",
  stopped: "asks",
  idle: "idle",
  running: "work",
  ended: "end",
};

export function StateSegment({ appearance, state, from, to, start, end, title, index }: StateSegmentProps) {
  const whole = Math.max(1, end - start);
  const left = ((Math.max(from, start) - start) / whole) * 100;
  const right = ((Math.min(to, end) - start) / whole) * 100;
  if (right <= 0 || left >= 100 || right < left) return null;
  const kind = state === "waiting_background" ? "bg" : CLASSES[appearance];
  const style: CSSProperties =
    appearance === "ended"
      ? { left: `${left}%` }
      : { left: `${left}%`, width: `calc(${(right - left).toFixed(3)}% - 1px)` };
  return <i class={`seg ${kind}`} style={style} title={title} data-span={index} />;
}
