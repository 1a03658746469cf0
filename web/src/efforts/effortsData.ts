/** The data of the efforts view: pages from the daemon, then live changes. */
import { computed, effect, signal } from "@preact/signals";
import type { Effort } from "../generated/Effort";
import { errorText } from "../lib/errorText";
import { pagedList } from "../lib/pagedList";
import { openEffortId } from "../lib/route";
import { throttle } from "../lib/throttle";
import { getEffort, getEfforts, Refusal } from "../live/api";
import { onEffortChanges, onSessionChanges } from "../live/store";
import { isOffline } from "../live/stream";
import { merged, withChangedEfforts } from "./entries";
import { type EffortFilter, NO_EFFORT_FILTER } from "./filter";

const PAGE_ROWS = 100;
/** How often the cost of efforts at work is read again. The stream does not send it. */
const COST_MS = 5_000;

export const effortFilter = signal<EffortFilter>(NO_EFFORT_FILTER);
export const efforts = signal<Effort[]>([]);
/** The id in the address of the page, if the daemon does not know it. */
export const unknownId = signal<string | null>(null);

/** True if there is no effort at all. Then the view has no search and no list. */
export const isEmpty = computed(
  () =>
    nextBefore.value === null &&
    efforts.value.length === 0 &&
    effortFilter.value.which === "all" &&
    openEffortId.value === null,
);

/** Changes that arrive while a page is loaded. */
const waiting = new Map<string, Effort>();

export const { nextBefore, loading, failure, reload, loadMore } = pagedList(
  (before) => {
    const { which } = effortFilter.peek();
    return getEfforts({
      ...(which !== "all" && { lifecycle: which }),
      ...(before !== undefined && { before }),
      limit: PAGE_ROWS,
    });
  },
  (page, isFirst) => {
    // Changes that arrived while the page was being loaded are newer than the page.
    const changed = [...waiting.values()];
    waiting.clear();
    const known = isFirst ? [] : efforts.peek();
    efforts.value = withChangedEfforts(merged(known, page.efforts), changed, page.next_before !== null);
  },
);

/** Loads what the filter asks for, and follows changes until the returned function is called. */
export function followEfforts(): () => void {
  const costs = followCosts();
  const stops = [
    followFilter(),
    followOpened(),
    costs.stop,
    onEffortChanges((changed) => {
      if (loading.peek()) for (const effort of changed) waiting.set(effort.id, effort);
      else efforts.value = withChangedEfforts(efforts.peek(), changed, typeof nextBefore.peek() === "string");
      costs.request(changed.map(({ id }) => id));
    }),
    onSessionChanges((changes) =>
      costs.request(changes.flatMap(({ after }) => (after.effort ? [after.effort.id] : []))),
    ),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function followFilter(): () => void {
  let wanted: string | null = null;
  return effect(() => {
    const { which } = effortFilter.value;
    if (which === wanted || isOffline.value) {
      // After a lost connection, changes may have been missed, so the list is read again.
      if (isOffline.value) wanted = null;
      return;
    }
    wanted = which;
    void reload();
  });
}

/** The effort that the address names is read even if no loaded page has it. */
function followOpened(): () => void {
  return effect(() => {
    const id = openEffortId.value;
    const isLoaded = nextBefore.value !== undefined && !loading.value;
    if (id === null || !isLoaded || efforts.value.some((effort) => effort.id === id)) return;
    void readOpened(id);
  });
}

async function readOpened(id: string): Promise<void> {
  try {
    efforts.value = merged(efforts.peek(), [await getEffort(id)]);
    unknownId.value = null;
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) unknownId.value = id;
    else failure.value = errorText(error);
  }
}

/** Reads efforts again whose cost may have changed. */
function followCosts(): { request: (ids: string[]) => void; stop: () => void } {
  const ids = new Set<string>();
  const read = async () => {
    const known = new Set(efforts.peek().map((effort) => effort.id));
    const wanted = [...ids].filter((id) => known.has(id));
    ids.clear();
    // If one cannot be read, its known cost stays.
    const found = await Promise.all(wanted.map((id) => getEffort(id).catch(() => null)));
    const costs = new Map(found.flatMap((effort) => (effort ? [[effort.id, effort.cost] as const] : [])));
    // Only the cost is taken from the reply, which may be older than a change that arrived since.
    efforts.value = efforts
      .peek()
      .map((effort) => ({ ...effort, cost: costs.get(effort.id) ?? effort.cost }));
  };
  const { request, stop } = throttle(read, COST_MS);
  return {
    request: (changed) => {
      for (const id of changed) ids.add(id);
      if (ids.size > 0) request();
    },
    stop,
  };
}
