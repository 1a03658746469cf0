//! What cannot be undone takes two presses. A double click and a held key are one press, and so is a slip of the finger.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** Nobody reads what a second press will do in less. */
const PAUSE_MS = 500;

/** Of a double click the second one was meant for what stood here before the first. */
export const isRepeatedClick = (event: MouseEvent): boolean => event.detail > 1;

export type Twice = { armed: boolean; waiting: boolean; press: (event: MouseEvent) => void; disarm: () => void };

/** The first press arms; one after the pause acts. */
export function useTwice(act: () => void): Twice {
  const armedAt = useSignal<number | null>(null);
  const waiting = useSignal(false);
  useEffect(() => {
    if (armedAt.value === null) return;
    const timer = setTimeout(() => { waiting.value = false; }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [armedAt.value]);
  const disarm = () => { armedAt.value = null; };
  const press = (event: MouseEvent) => {
    if (armedAt.value === null) {
      armedAt.value = event.timeStamp;
      waiting.value = true;
      return;
    }
    // By when it was pressed, not by when a busy page came to it.
    if (isRepeatedClick(event) || event.timeStamp - armedAt.value < PAUSE_MS) return;
    disarm();
    act();
  };
  return { armed: armedAt.value !== null, waiting: armedAt.value !== null && waiting.value, press, disarm };
}
