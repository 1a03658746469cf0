/** Small gauges. A high value is shown by brightness, not by colour. */
import { useComputed, useSignal } from "@preact/signals";
import type { CSSProperties } from "preact";
import { now, time } from "../lib/clock";
import { isOffline } from "../live/stream";

type Vars = CSSProperties & Record<`--${string}`, string | number>;
const vars = (values: Vars): CSSProperties => values;

/** From this percentage a gauge is bright and its number bold. */
const HIGH_PERCENT = 80;
export const isHigh = (percent: number): boolean => percent >= HIGH_PERCENT;

/** A percentage for a stylesheet, as `--v`. */
export const fill = (percent: number): CSSProperties =>
  vars({ "--v": `${Math.min(100, Math.max(0, percent))}%` });

export function Gauge({ percent }: { percent: number }) {
  return <i class="gauge" style={fill(percent)} />;
}

/** To-dos as small marks, `done` of `of`. More than a dozen are drawn as one bar. */
export function Pips({ done, of }: { done: number; of: number }) {
  return <i class={of > 12 ? "pips whole" : "pips"} style={vars({ "--d": done, "--n": Math.max(1, of) })} />;
}

/** Circumference of the ring, whose radius is 5.5. */
const CIRCUMFERENCE = 2 * Math.PI * 5.5;
/** With less time left, the ring is bright. */
const SOON_MS = 60_000;

/** The time left to answer on the board. Afterwards the request can still be answered in the terminal. */
export function TimeLeft(times: { opened: string; until: string }) {
  // It goes on while the page hears nothing, so the page does not know it.
  if (isOffline.value) return <span class="off-note clip">off until connected</span>;
  return <Ring {...times} />;
}

function Ring({ opened, until }: { opened: string; until: string }) {
  const ends = useSignal(until);
  ends.value = until;
  const whole = Math.max(1, time(until) - time(opened));
  const dash = useComputed(
    () =>
      `${(Math.max(0, Math.min(1, (time(ends.value) - now.value) / whole)) * CIRCUMFERENCE).toFixed(1)} 99`,
  );
  const cls = useComputed(() => (time(ends.value) - now.value < SOON_MS ? "left soon" : "left"));
  const text = useComputed(() => countdown(time(ends.value) - now.value));
  return (
    <span class={cls} title="Time left to answer here. After that the terminal prompt is still open.">
      <svg class="ring" viewBox="0 0 14 14" aria-hidden="true">
        <circle cx="7" cy="7" r="5.5" />
        <circle cx="7" cy="7" r="5.5" stroke-dasharray={dash} />
      </svg>
      <span>
        <span class="sr">time left to answer here </span>
        {text}
      </span>
    </span>
  );
}

function countdown(ms: number): string {
  const s = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;
}
