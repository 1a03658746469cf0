/**
 * A signal that is stored in this browser. If storage is not available (private windows), it lasts until the
 * page closes.
 */
import { effect, type Signal, signal } from "@preact/signals";

export function persistentSignal<T>(name: string, initial: T): Signal<T> {
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
      // Storage is full or forbidden. The value still holds until the page closes.
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
