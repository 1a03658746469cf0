//! A signal that remembers itself in this browser. Storage may be off (private windows): then it just forgets.
import { effect, signal, type Signal } from "@preact/signals";

export function remembered<T>(name: string, initial: T): Signal<T> {
  const key = `flightdeck.${name}`;
  const value = signal<T>(read(key, initial));
  let first = true;
  effect(() => {
    const json = JSON.stringify(value.value);
    if (first) {
      first = false;
      return;
    }
    try {
      localStorage.setItem(key, json);
    } catch {
      // Full or forbidden: the choice still holds until the page closes.
    }
  });
  return value;
}

function read<T>(key: string, initial: T): T {
  try {
    const json = localStorage.getItem(key);
    if (json === null) return initial;
    const stored = JSON.parse(json) as T;
    const both = typeof initial === "object" && initial !== null && !Array.isArray(initial);
    return both ? { ...initial, ...stored } : stored;
  } catch {
    return initial;
  }
}
