/** Shows the moment that a session was opened at: the row of the timeline is drawn and marked. */
import { type ReadonlySignal, type Signal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { time } from "../lib/clock";
import { openAt } from "../lib/route";
import type { Step } from "./timelineSteps";

/** An event may have been received a moment after it was fired. */
const LATE_MS = 1_000;

/** The newest step at the moment or before it; the oldest one if all are later. Steps are newest first. */
export function stepAt(steps: Step[], at: number): number {
  const found = steps.findIndex((step) => step.at <= at + LATE_MS);
  return found < 0 ? steps.length - 1 : found;
}

/** Sets the id of the marked event once its step is loaded, and how many rows are drawn. */
export function useMoment(
  steps: ReadonlySignal<Step[]>,
  shown: Signal<number>,
  marked: Signal<string | null>,
): void {
  const isDone = useRef(false);
  useSignalEffect(() => {
    const at = openAt.value;
    if (at === null || isDone.current || steps.value.length === 0) return;
    isDone.current = true;
    const index = stepAt(steps.value, time(at));
    shown.value = Math.max(shown.peek(), index + 1);
    marked.value = steps.value[index]?.event.id ?? null;
  });
}
