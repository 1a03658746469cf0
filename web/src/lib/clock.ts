/** The page's clock. Every timer and countdown reads `now`, so none of them asks the server. */
import { signal } from "@preact/signals";

export const now = signal(Date.now());

const tick = () => {
  now.value = Date.now();
};

/** Ticks every full second while the page is visible. */
export function startClock(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const next = () => {
    tick();
    timer = setTimeout(next, 1000 - (Date.now() % 1000));
  };
  const follow = () => {
    clearTimeout(timer);
    if (!document.hidden) next();
  };
  document.addEventListener("visibilitychange", follow);
  follow();
}

export const time = (iso: string): number => Date.parse(iso);
