/** Which sessions the person can see on this page now: their cards, or the one in the drawer. */
import { openId, view } from "../lib/route";
import { wholeBunch } from "./bunches";
import { layout } from "./currentLayout";

/** Whether the centre of the card is drawn: a lane may clip it, and a drawer, a dialog or the header may cover it. */
export function isUncovered(card: Element): boolean {
  const { left, top, width, height } = card.getBoundingClientRect();
  const [x, y] = [left + width / 2, top + height / 2];
  // The hit test of a point outside the window finds nothing, and costs more than this comparison.
  if (width === 0 || x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return false;
  return document.elementFromPoint(x, y)?.closest("[data-card]") === card;
}

export function sessionsOnScreen(): string[] {
  const open = openId.peek();
  if (open !== null) return [open];
  if (view.peek() !== "board") return [];
  const { bunches } = layout.peek();
  return Array.from(document.querySelectorAll<HTMLElement>("[data-card]"))
    .filter(isUncovered)
    .flatMap(({ dataset: { card = "" } }) => [card, ...(wholeBunch(bunches, card)?.folded ?? [])]);
}
