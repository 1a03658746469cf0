/** An action that cannot be undone needs two presses. A double click or a held key counts as one press. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** A second press within this time is ignored: nothing can be read so quickly. */
const PAUSE_MS = 500;

/** The second click of a double click was meant for what was there before the first. */
export const isRepeatedClick = (event: UIEvent): boolean => event.detail > 1;

export type Confirmation = {
  armed: boolean;
  waiting: boolean;
  /** Returns false if the press was ignored. */
  press: (event: UIEvent) => boolean;
  disarm: () => void;
};

/** The first press arms the action; a press after the pause runs it. */
export function useConfirm(act: (event: UIEvent) => void): Confirmation {
  const armedAt = useSignal<number | null>(null);
  const waiting = useSignal(false);
  useEffect(() => {
    if (armedAt.value === null) return;
    const timer = setTimeout(() => {
      waiting.value = false;
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [armedAt.value]);
  const disarm = () => {
    armedAt.value = null;
  };
  const press = (event: UIEvent) => {
    if (armedAt.value === null) {
      armedAt.value = event.timeStamp;
      waiting.value = true;
      return true;
    }
    // Compares when it was pressed, not when a busy page handled it.
    if (isRepeatedClick(event) || event.timeStamp - armedAt.value < PAUSE_MS) return false;
    disarm();
    act(event);
    return true;
  };
  return { armed: armedAt.value !== null, waiting: armedAt.value !== null && waiting.value, press, disarm };
}
