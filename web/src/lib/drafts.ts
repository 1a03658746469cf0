/**
 * Text and choices that were not sent yet, by session or ask. They survive a redraw, for example when the
 * card moves.
 */
import { type Signal, signal } from "@preact/signals";

/** Most states kept per kind; the page may stay open for days. */
const KEPT_MAX = 500;

export function keyedState<T>(initial: T): (key: string) => Signal<T> {
  const states = new Map<string, Signal<T>>();
  return (key) => {
    const state = states.get(key) ?? signal(initial);
    // Moves the key to the end, so the least recently used state is dropped first.
    states.delete(key);
    states.set(key, state);
    const oldest = states.keys().next().value;
    if (states.size > KEPT_MAX && oldest !== undefined) states.delete(oldest);
    return state;
  };
}

/** The text of a text field. */
export const draftOf = keyedState("");
