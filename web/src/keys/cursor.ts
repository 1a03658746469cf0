/** The current card, and the cards that Tab reaches: one per lane. */
import { computed } from "@preact/signals";
import { layout } from "../board/currentLayout";
import { parkedShown } from "../board/filter";
import type { Lane, LaneName } from "../board/layout";
import { folded, sort } from "../lib/preferences";
import { cursor, unfolded } from "../lib/selection";
import { sessionSignal } from "../live/store";

export { cursor };

/** The visible cards of a lane, without those of folded projects. */
function visibleIds(lane: Lane): string[] {
  const closed = new Set(folded.value);
  return lane.sections
    .filter((s) => !(s.project !== null && closed.has(`${lane.name}/${s.project}`)))
    .filter((s) => !s.parked || parkedShown.value)
    .flatMap((s) => s.ids);
}

export const tabStops = computed<Set<string>>(() => {
  const stops = new Set<string>();
  for (const lane of layout.value.lanes) {
    const ids = visibleIds(lane);
    const at = cursor.value;
    const stop = at !== null && ids.includes(at) ? at : ids[0];
    if (stop) stops.add(stop);
  }
  return stops;
});

export const cardElement = (id: string) =>
  document.querySelector<HTMLElement>(`[data-card="${CSS.escape(id)}"]`);

/**
 * Selects the card that got the focus. A key also unfolds a row. A pointer does not: its button would move from under
 * it.
 */
export function selectCard(id: string, isRow: boolean): void {
  cursor.value = id;
  const byKey = "keys" in document.documentElement.dataset;
  if (byKey && isRow) unfolded.value = id;
  else if (unfolded.peek() !== id) unfolded.value = null;
}

/** Scrolls a card into view and focuses it. In a large fleet the card is drawn only after scrolling. */
export function focusCard(id: string): void {
  cursor.value = id;
  const place = cardElement(id) ?? document.querySelector<HTMLElement>(`[data-slot="${CSS.escape(id)}"]`);
  place?.scrollIntoView({ block: "nearest" });
  const card = cardElement(id);
  if (card) card.focus({ preventScroll: true });
  else setTimeout(() => cardElement(id)?.focus({ preventScroll: true }), 60);
  // The key caps of the selected card may need one more line.
  afterDrawing(() => {
    if (cursor.peek() === id) cardElement(id)?.scrollIntoView({ block: "nearest" });
  });
}

/** In the first frame components draw what has changed. */
const afterDrawing = (act: () => void) => requestAnimationFrame(() => requestAnimationFrame(act));

/**
 * j and k: the next and previous card of the lane. This and the other moves return why the selection stays where it
 * is, or null.
 */
export function stepInLane(by: 1 | -1): string | null {
  const lanes = layout.value.lanes.map(visibleIds);
  const lane = lanes.find((ids) => cursor.value !== null && ids.includes(cursor.value));
  const next = lane
    ? lane[lane.indexOf(cursor.value as string) + by]
    : lanes.find((ids) => ids.length > 0)?.[0];
  if (next === undefined) return lane ? `no card ${by > 0 ? "below" : "above"} this one` : "no card is shown";
  focusCard(next);
  return null;
}

/** j and k in the overview, the log and the efforts: the next and previous row, starting with the first. */
export function stepRow(by: 1 | -1): string | null {
  const rows = Array.from(document.querySelectorAll<HTMLElement>(".row-name, .log-row, .effort-row"));
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const next = at < 0 ? rows[0] : rows[at + by];
  if (!next) return at < 0 ? "no row is shown" : `no row ${by > 0 ? "below" : "above"} this one`;
  next.focus();
  return null;
}

/** h and l: the card at about the same height in the next lane that has cards. */
export function stepLane(by: 1 | -1): string | null {
  const lanes = layout.value.lanes.map(visibleIds);
  const at = lanes.findIndex((ids) => cursor.value !== null && ids.includes(cursor.value));
  if (at < 0) return stepInLane(1);
  for (let i = at + by; i >= 0 && i < lanes.length; i += by) {
    const ids = lanes[i];
    if (!ids?.length) continue;
    focusCard(nearest(ids, cursor.value));
    return null;
  }
  return `no card to the ${by > 0 ? "right" : "left"}`;
}

function nearest(ids: string[], from: string | null): string {
  const top = (from && cardElement(from)?.getBoundingClientRect().top) || 0;
  const distance = (id: string) => Math.abs((cardElement(id)?.getBoundingClientRect().top ?? Infinity) - top);
  return ids.reduce((best, id) => (distance(id) < distance(best) ? id : best));
}

/** The cards of Needs You in the daemon's order, over all lanes. */
export function needQueue(): string[] {
  const lanes = layout.value.lanes.filter((l) => l.name === "blocked" || l.name === "waiting");
  const rank = (id: string) => sessionSignal(id)?.peek().rank[sort.value] ?? "";
  return lanes.flatMap(visibleIds).sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

/** The card after this one in Needs You, or before it; after the last comes the first. */
export function besideInNeed(id: string | null, by: 1 | -1): string | null {
  const queue = needQueue();
  const at = id === null ? -1 : queue.indexOf(id);
  if (at < 0) return queue[by > 0 ? 0 : queue.length - 1] ?? null;
  return queue[(at + by + queue.length) % queue.length] ?? null;
}

/** n and N: the next and previous card that needs the person. */
export function nextNeed(by: 1 | -1 = 1): string | null {
  const next = besideInNeed(cursor.value, by);
  if (next) focusCard(next);
  return next;
}

/** The first visible card of the first of these lanes that has one. */
export function firstOf(names: LaneName[]): string | null {
  const lanes = layout.value.lanes.filter((lane) => names.includes(lane.name));
  return lanes.flatMap(visibleIds)[0] ?? null;
}
