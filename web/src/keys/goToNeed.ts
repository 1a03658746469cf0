/** The way to the next session that needs the person, from every view. */
import { goTo, openId, openSession, view } from "../lib/route";
import { besideInNeed, nextNeed } from "./cursor";
import { refuse } from "./refusal";

/** n and N: on the board the next card is selected, in the drawer it is opened. Other views lead to the board. */
export function goToNeed(by: 1 | -1): void {
  const name = by > 0 ? "n" : "N";
  const open = openId.value;
  if (open === null && view.value !== "board") goTo("board");
  const next = open === null ? nextNeed(by) : besideInNeed(open, by);
  if (next === null) refuse(name, "nothing needs you");
  else if (next === open) refuse(name, "there is no other that needs you");
  else if (open !== null) openSession(next);
}
