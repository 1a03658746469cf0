/** Limits how often an asynchronous function runs. */

export type Throttled = { request: () => void; stop: () => void };

/**
 * The first request runs at once. A later run starts at least `everyMs` after the last one started and never
 * while it is running. All requests in between are served by one run, and a run is never cancelled.
 */
export function throttle(run: () => Promise<void>, everyMs: number): Throttled {
  let began = Number.NEGATIVE_INFINITY;
  let running = false;
  let wanted = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const begin = async () => {
    timer = undefined;
    running = true;
    wanted = false;
    began = performance.now();
    try {
      await run();
    } finally {
      running = false;
    }
    if (wanted) next();
  };
  const next = () => {
    timer ??= setTimeout(() => void begin(), Math.max(0, began + everyMs - performance.now()));
  };
  return {
    request: () => {
      wanted = true;
      if (!running) next();
    },
    stop: () => {
      wanted = false;
      clearTimeout(timer);
    },
  };
}
