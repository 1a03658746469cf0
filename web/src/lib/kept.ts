//! What a person typed or chose and has not sent yet, by session or ask: it outlives the box, which is drawn anew when its card moves.
import { signal, type Signal } from "@preact/signals";

/** Of each kind. A day of asks passes through one page; only those a card can still show matter. */
const KEPT_MAX = 500;

export function kept<T>(initial: T): (key: string) => Signal<T> {
  const states = new Map<string, Signal<T>>();
  return (key) => {
    const state = states.get(key) ?? signal(initial);
    // What was used last is forgotten last.
    states.delete(key);
    states.set(key, state);
    const oldest = states.keys().next().value;
    if (states.size > KEPT_MAX && oldest !== undefined) states.delete(oldest);
    return state;
  };
}

/** Words in a text field. */
export const draftOf = kept("");
