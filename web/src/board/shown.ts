//! The layout on screen. It follows the store, but a move is finished before the next begins, and the card under the
//! pointer or the focus holds still until the person leaves it.
import { effect, signal } from "@preact/signals";
import { grouping, showDone, sort } from "../lib/prefs";
import { allSessions, isLarge, revision } from "../live/store";
import { filter } from "./filter";
import { EMPTY_LAYOUT, holdInPlace, layOut, sameLayout, type Layout, type LayoutChoices } from "./layout";
import { beforeMove } from "./flip";

export const layout = signal<Layout>(EMPTY_LAYOUT);
/** The card whose place must not change now. */
export const held = signal<string | null>(null);

/** The length of a move: until it is over, the next order waits. A large fleet would never rest, so it moves once a second. */
const MOVE_MS = 240;
const LARGE_MOVE_MS = 1_000;

const wide = matchMedia("(min-width: 1400px)");
const twoLanes = signal(wide.matches);
wide.addEventListener("change", (event) => {
  twoLanes.value = event.matches;
});

let lastCommit = 0;
let pending: ReturnType<typeof setTimeout> | undefined;

export function followStore(): void {
  effect(() => {
    // Read here, so that any of them asks for a new layout.
    void revision.value;
    void held.value;
    commitSoon({
      sort: sort.value, grouping: grouping.value, filter: filter.value, twoLanes: twoLanes.value, showDone: showDone.value,
    });
  });
}

let latest: LayoutChoices | undefined;

function commitSoon(choices: LayoutChoices): void {
  // What the person asks for is drawn at once.
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
  const next = holdInPlace(layOut(sessions, latest), layout.peek(), held.peek());
  if (sameLayout(next, layout.peek())) return;
  lastCommit = performance.now();
  beforeMove(held.peek());
  layout.value = next;
}
