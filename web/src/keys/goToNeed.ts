/** The way to the next session that needs the person, from every view. */
import { filtering } from "../board/filter";
import { goTo, openId, openSession, view } from "../lib/route";
import { fleetCounts } from "../live/fleetCounts";
import { besideInNeed, nextNeed } from "./cursor";
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
