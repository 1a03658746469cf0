/** How long an assignment worked and how long it waited for the person, as numbers and as a bar. */
import { useComputed, useSignal } from "@preact/signals";
import type { CSSProperties } from "preact";
import { now } from "../lib/clock";
import { roundedDuration } from "../lib/format";
import { type Reading, timesAt } from "./times";

/** The bar has four marks. All of it is four of them, unless the assignment took longer. */
export const MARK_MINUTES = 16;
const FULL_MS = 4 * MARK_MINUTES * 60_000;

export function TwoTimes({ row }: { row: Reading }) {
  const reading = useSignal(row);
  reading.value = row;
  // Only an open assignment follows the clock.
  const times = useComputed(() =>
    timesAt(reading.value, reading.value.assignment.state === "complete" ? reading.value.readAt : now.value),
  );
  const { workingMs, waitingMs } = times.value;
  const full = Math.max(FULL_MS, workingMs + waitingMs);
  const share = (ms: number) => ({ width: `${(ms / full) * 100}%` }) as CSSProperties;
  const waits = row.assignment.state === "awaiting_input";
  return (
    <span
      class="two-times"
      title={`Worked ${roundedDuration(workingMs)}, waited ${roundedDuration(waitingMs)} for you`}
    >
      <span class="worked">
        <span class="sr">worked </span>
        {roundedDuration(workingMs)}
      </span>
      <span class="times-bar" aria-hidden="true">
        <i class="w" style={share(workingMs)} />
        <i class={waits ? "p open" : "p"} style={share(waitingMs)} />
      </span>
      <span class={waitingMs < 1000 ? "waited none" : "waited"}>
        <span class="sr">waited for you </span>
        {roundedDuration(waitingMs)}
      </span>
    </span>
  );
}
