//! One stretch of one state. Height says it as well as colour: waiting is tall, work is half, idle is a line.
import type { CSSProperties } from "preact";
import type { Look } from "../card/look";

type SegmentProps = { look: Look; state: string; from: number; to: number; start: number; end: number; title?: string; index?: number };

const CLASSES: Record<Look, string> = { blocked: "blocked", asking: "asks", failed: "fail", idle: "idle", running: "work", ended: "end" };

export function Segment({ look, state, from, to, start, end, title, index }: SegmentProps) {
  const whole = Math.max(1, end - start);
  const left = ((Math.max(from, start) - start) / whole) * 100;
  const right = ((Math.min(to, end) - start) / whole) * 100;
  if (right <= 0 || left >= 100 || right < left) return null;
  const kind = state === "waiting_background" ? "bg" : CLASSES[look];
  const style: CSSProperties = look === "ended" ? { left: `${left}%` } : { left: `${left}%`, width: `calc(${(right - left).toFixed(3)}% - 1px)` };
  return <i class={`seg ${kind}`} style={style} title={title} data-span={index} />;
}
