/** The page's clock. Every timer and countdown reads `now`, so none of them asks the server. */
import { signal } from "@preact/signals";
import { isOffline } from "../live/stream";

/** Stops while no data arrives from the daemon: a running time would claim that the state is still current. */
export const now = signal(Date.now());
/** Always runs: for the connection itself, and for answers that are about to be sent. */
export const wallNow = signal(Date.now());

const tick = () => {
  wallNow.value = Date.now();
  if (!isOffline.peek()) now.value = wallNow.value;
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
