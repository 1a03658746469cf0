/**
 * Detects when the person was away. The page stores when it was last used; a long pause counts as an absence.
 */
import { signal } from "@preact/signals";
import { persistentSignal } from "../lib/storage";

const AWAY_MIN_MS = 5 * 60_000;

const lastSeenAt = persistentSignal<number>("last-seen", 0);
export const away = signal<{ from: number; to: number } | null>(null);

export function trackPresence(): void {
  const here = () => {
    if (document.hidden || !document.hasFocus()) return;
    const at = Date.now();
    if (lastSeenAt.peek() && at - lastSeenAt.peek() > AWAY_MIN_MS)
      away.value = { from: lastSeenAt.peek(), to: at };
    lastSeenAt.value = at;
  };
  for (const sign of ["focus", "pointermove", "keydown", "scroll"])
    addEventListener(sign, throttle(here), { passive: true, capture: true });
  document.addEventListener("visibilitychange", here);
  here();
}

function throttle(run: () => void): () => void {
  let last = 0;
  return () => {
    const at = Date.now();
    if (at - last < 5_000) return;
    last = at;
    run();
  };
}
