//! Follows something busy: one run at a time, and not more often than it pays.

export type Paced = { want: () => void; stop: () => void };

/**
 * The first wish runs at once; later ones begin at least `everyMs` after the last run began, and never beside it.
 * Whatever is wanted meanwhile is one more run: busy wishes delay none, and every run is let to its end.
 */
export function paced(run: () => Promise<void>, everyMs: number): Paced {
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
    want: () => {
      wanted = true;
      if (!running) next();
    },
    stop: () => {
      wanted = false;
      clearTimeout(timer);
    },
  };
}
