/** A key that was pressed and did nothing: shown at the bottom of the page and on the card, with the reason. */
import { signal } from "@preact/signals";

export type RefusedKey = { key: string; why: string; count: number };

/** `count` grows with each refusal, so that the same refusal is shown and read again. */
export const refusal = signal<RefusedKey | null>(null);

/** The beginning of each refusal while the daemon is not heard. */
export const NOT_CONNECTED = "not connected";

const SHOW_MS = 3_000;
const MARK_MS = 500;
let count = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

export function refuse(key: string, why: string, place?: Element | null): void {
  refusal.value = { key, why, count: ++count };
  clearTimeout(timer);
  timer = setTimeout(clearRefusal, SHOW_MS);
  if (place instanceof HTMLElement) mark(place, String(count));
}

/** Whether the refusal of this key is on screen. */
export const isRefused = (key: string): boolean => refusal.peek()?.key === key;

export function clearRefusal(): void {
  refusal.value = null;
}

/** Marks the card or ask that refused the key. */
function mark(place: HTMLElement, id: string): void {
  place.dataset.refused = id;
  setTimeout(() => {
    if (place.dataset.refused === id) delete place.dataset.refused;
  }, MARK_MS);
}
