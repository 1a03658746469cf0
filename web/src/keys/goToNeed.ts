/** The way to the next session that needs the person, and to the first of each column, from every view. */
import { filtering } from "../board/filter";
import type { LaneName } from "../board/layout";
import { showDone } from "../lib/preferences";
import { goTo, openId, openSession, view } from "../lib/route";
import { fleetCounts } from "../live/fleetCounts";
import { besideInNeed, firstOf, focusCard, nextNeed } from "./cursor";
import { refuse } from "./refusal";

/** n and N: on the board the next card is selected, in the drawer it is opened. Other views lead to the board. */
export function goToNeed(by: 1 | -1): void {
  const name = by > 0 ? "n" : "N";
  const open = openId.value;
  if (open === null && view.value !== "board") goTo("board");
  const here = open ?? focusedCardId();
  const next = open === null ? nextNeed(by) : besideInNeed(open, by);
  if (next === null) refuse(name, whyNoneIsNext());
  else if (next === here) refuse(name, "there is no other that needs you");
  else if (open !== null) openSession(next);
}

const focusedCardId = (): string | null =>
  document.activeElement instanceof HTMLElement ? (document.activeElement.dataset.card ?? null) : null;

/** The filter may hide what needs the person. */
export function whyNoneIsNext(): string {
  const { needs } = fleetCounts.peek();
  return filtering.peek() && needs > 0
    ? `nothing in the filter needs you, ${needs} outside it`
    : "nothing needs you";
}

type Column = "needs" | "running" | "done";
const COLUMNS: Record<Column, { key: string; lanes: LaneName[] }> = {
  needs: { key: "g n", lanes: ["blocked", "waiting"] },
  running: { key: "g r", lanes: ["running"] },
  done: { key: "g d", lanes: ["done"] },
};

/** g n, g r and g d: the first card of a column is selected, in the drawer it is opened. */
export function goToFirst(column: Column): void {
  const { key, lanes } = COLUMNS[column];
  const open = openId.value;
  const first = firstOf(lanes);
  if (first === null) refuse(key, whyIsEmpty(column));
  else if (first === (open ?? focusedCardId())) refuse(key, `it is ${open ? "open" : "selected"} already`);
  else if (open !== null) openSession(first);
  else {
    if (view.value !== "board") goTo("board");
    focusCard(first);
  }
}

function whyIsEmpty(column: Column): string {
  const { needs, running, done } = fleetCounts.peek();
  if (column === "needs") return needs > 0 && !filtering.peek() ? "its cards are folded" : whyNoneIsNext();
  if (column === "done" && !showDone.peek()) return "Done is hidden";
  const inFleet = column === "running" ? running : done;
  const nothing = column === "running" ? "is running" : "is done";
  if (inFleet === 0) return `nothing ${nothing}`;
  return filtering.peek()
    ? `nothing in the filter ${nothing}, ${inFleet} outside it`
    : "its cards are folded";
}
