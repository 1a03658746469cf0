/**
 * Detects when the person was away. The page stores when it was last used; a long pause counts as an absence.
 */
import { signal } from "@preact/signals";
import { persistentSignal } from "./storage";

const AWAY_MIN_MS = 5 * 60_000;
const NAME = "last-seen";

export type Absence = { from: number; to: number };

const lastSeenAt = persistentSignal<number>(NAME, 0);
/** The last time the person was away. */
export const away = signal<Absence | null>(null);

/** The absence that ends now, if it lasted at least `minMs`. A browser that never showed the page has none. */
export const absence = (lastSeen: number, now: number, minMs: number): Absence | null =>
  lastSeen > 0 && now - lastSeen > minMs ? { from: lastSeen, to: now } : null;

/** When the person last did something on this page, also while another window had the focus. */
let usedAt = Date.now();
/** Whether the person used this page a short time ago. */
export const isInUse = (): boolean => Date.now() - usedAt < AWAY_MIN_MS;

export function trackPresence(): void {
  const used = () => {
    usedAt = Date.now();
  };
  const here = () => {
    if (document.hidden || !document.hasFocus()) return;
    const at = Date.now();
    away.value = absence(lastSeenAt.peek(), at, AWAY_MIN_MS) ?? away.peek();
    lastSeenAt.value = at;
  };
  for (const sign of ["focus", "pointermove", "pointerdown", "keydown", "wheel"])
    addEventListener(sign, used, { passive: true, capture: true });
  for (const sign of ["focus", "pointermove", "keydown", "scroll"])
    addEventListener(sign, throttle(here), { passive: true, capture: true });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) used();
    here();
  });
  // Another tab of the board was used meanwhile.
  addEventListener("storage", ({ key, newValue }) => {
    if (key === `flightdeck.${NAME}`) lastSeenAt.value = Math.max(lastSeenAt.peek(), Number(newValue));
  });
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
