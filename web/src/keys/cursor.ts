//! Which card is current, and which cards Tab can reach: one per lane, the current one where it stands.
import { computed, signal } from "@preact/signals";
import { layout } from "../board/shown";
import type { Lane } from "../board/layout";
import { folded, sort } from "../lib/prefs";
import { sessionSignal } from "../live/store";

export const cursor = signal<string | null>(null);

/** The cards of a lane a person can see: a folded project has none. */
function visibleIds(lane: Lane): string[] {
  const closed = new Set(folded.value);
  return lane.sections.filter((s) => !(s.project !== null && closed.has(`${lane.name}/${s.project}`))).flatMap((s) => s.ids);
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

export const cardElement = (id: string) => document.querySelector<HTMLElement>(`[data-card="${CSS.escape(id)}"]`);

/** Brings a card into view (a far one is only a placeholder until then) and gives it the focus. */
export function focusCard(id: string): void {
  cursor.value = id;
  const place = cardElement(id) ?? document.querySelector<HTMLElement>(`[data-slot="${CSS.escape(id)}"]`);
  place?.scrollIntoView({ block: "nearest" });
  const card = cardElement(id);
  if (card) card.focus({ preventScroll: true });
  else setTimeout(() => cardElement(id)?.focus({ preventScroll: true }), 60);
}

/** j and k: along the lane. */
export function stepInLane(by: number): void {
  const lanes = layout.value.lanes.map(visibleIds);
  const lane = lanes.find((ids) => cursor.value !== null && ids.includes(cursor.value));
  if (!lane) {
    const first = lanes.find((ids) => ids.length > 0)?.[0];
    if (first) focusCard(first);
    return;
  }
  const next = lane[lane.indexOf(cursor.value as string) + by];
  if (next) focusCard(next);
}

/** j and k in the overview: along its rows, from the first one. */
export function stepRow(by: number): void {
  const rows = Array.from(document.querySelectorAll<HTMLElement>(".row-name"));
  const at = rows.findIndex((row) => row === document.activeElement);
  (at < 0 ? rows[0] : rows[at + by])?.focus();
}

/** h and l: to the card at the same height in the next lane that has any. */
export function stepLane(by: number): void {
  const lanes = layout.value.lanes.map(visibleIds);
  const at = lanes.findIndex((ids) => cursor.value !== null && ids.includes(cursor.value));
  for (let i = at + by; i >= 0 && i < lanes.length; i += by) {
    const ids = lanes[i];
    if (ids?.length) return focusCard(nearest(ids, cursor.value));
  }
}

function nearest(ids: string[], from: string | null): string {
  const top = (from && cardElement(from)?.getBoundingClientRect().top) || 0;
  const distance = (id: string) => Math.abs((cardElement(id)?.getBoundingClientRect().top ?? Infinity) - top);
  return ids.reduce((best, id) => (distance(id) < distance(best) ? id : best));
}

/** n: the next card that needs the person, in the daemon's order, and round again. */
export function nextNeed(): string | null {
  const lanes = layout.value.lanes.filter((l) => l.name === "permissions" || l.name === "replies");
  const rank = (id: string) => sessionSignal(id)?.peek().rank[sort.value] ?? "";
  const queue = lanes.flatMap(visibleIds).sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
  const at = cursor.value === null ? -1 : queue.indexOf(cursor.value);
  const next = queue[(at + 1) % Math.max(1, queue.length)] ?? null;
  if (next) focusCard(next);
  return next;
}

export function firstOf(names: string[]): void {
  const lane = layout.value.lanes.find((l) => names.includes(l.name) && l.ids.length > 0);
  const first = lane && visibleIds(lane)[0];
  if (first) focusCard(first);
}
