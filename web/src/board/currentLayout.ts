/**
 * The layout that is on screen. It follows the store, but waits until a running move animation is over, and
 * keeps the held card in place.
 */
import { effect, signal } from "@preact/signals";
import { grouping, showDone, sort } from "../lib/preferences";
import { cursor } from "../lib/selection";
import { allSessions, isLarge, revision } from "../live/store";
import { split } from "./bunches";
import { beforeMove } from "./cardMotion";
import { filter } from "./filter";
import { EMPTY_LAYOUT, holdInPlace, type Layout, type LayoutChoices, layOut, sameLayout } from "./layout";

export const layout = signal<Layout>(EMPTY_LAYOUT);
/** The card that must not move now. */
export const heldCard = signal<string | null>(null);

/**
 * Shortest time between two moves. It is longer for a large fleet, which would otherwise move all the time.
 */
const MOVE_MS = 240;
const LARGE_MOVE_MS = 1_000;

const wide = matchMedia("(min-width: 1400px)");
const twoLanes = signal(wide.matches);
wide.addEventListener("change", (event) => {
  twoLanes.value = event.matches;
});

let lastCommit = 0;
let pending: ReturnType<typeof setTimeout> | undefined;

export function startLayout(): void {
  effect(() => {
    // Read here so that the effect runs again when they change.
    void revision.value;
    void heldCard.value;
    commitSoon({
      sort: sort.value,
      grouping: grouping.value,
      filter: filter.value,
      twoLanes: twoLanes.value,
      showDone: showDone.value,
      split: split.value,
    });
  });
}

let latest: LayoutChoices | undefined;

function commitSoon(choices: LayoutChoices): void {
  // A choice of the person is drawn at once.
  const choicesChanged = JSON.stringify(choices) !== JSON.stringify(latest);
  latest = choices;
  if (choicesChanged && pending !== undefined) {
    clearTimeout(pending);
    pending = undefined;
  }
  if (pending !== undefined) return;
  const wait = lastCommit + (isLarge() && !choicesChanged ? LARGE_MOVE_MS : MOVE_MS) - performance.now();
  if (wait <= 0) commit();
  else pending = setTimeout(commit, wait);
}

function commit(): void {
  pending = undefined;
  if (!latest) return;
  const sessions = Array.from(allSessions(), (held) => held.peek());
  const shown = layout.peek();
  const held = heldCard.peek();
  const before = { bunches: shown.bunches, held, selected: cursor.peek() };
  const next = holdInPlace(layOut(sessions, latest, before), shown, held);
  if (sameLayout(next, layout.peek())) return;
  lastCommit = performance.now();
  beforeMove(heldCard.peek());
  layout.value = next;
}
