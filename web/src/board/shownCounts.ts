/** Counts of a column's head: of what is shown and, with a filter, of all ("3 of 9"). */
import { computed } from "@preact/signals";
import { fleetCounts } from "../live/fleetCounts";
import { revision, sessionSignal } from "../live/store";
import { layout } from "./currentLayout";
import { filtering } from "./filter";
import type { Lane } from "./layout";

/** All sessions of a lane, also those that another card stands for. */
export const idsOf = (lane: Lane | undefined): string[] => (lane ? [...lane.ids, ...lane.bunched] : []);

export type ShownCount = { shown: number; all: number };

/** Without a filter the numbers are those of the whole fleet, which the header shows too. */
export const shownCounts = computed<Record<"needs" | "running" | "done", ShownCount>>(() => {
  const { needs, running, done } = fleetCounts.value;
  const whole = (n: number) => ({ shown: n, all: n });
  if (!filtering.value) return { needs: whole(needs), running: whole(running), done: whole(done) };
  void revision.value;
  return {
    needs: { shown: idsIn(["blocked", "waiting"]).filter(counts).length, all: needs },
    running: { shown: idsIn(["running"]).length, all: running },
    done: { shown: idsIn(["done"]).length, all: done },
  };
});

const idsIn = (names: string[]) =>
  layout.value.lanes.filter(({ name }) => names.includes(name)).flatMap(idsOf);

/** Whether the session blocks or asks, and is not parked. */
function counts(id: string): boolean {
  const session = sessionSignal(id)?.peek();
  return Boolean(session?.waiting?.counts && !session.parked);
}

export const countText = ({ shown, all }: ShownCount): string =>
  filtering.value ? `${shown} of ${all}` : String(all);
