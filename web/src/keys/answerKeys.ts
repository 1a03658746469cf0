/**
 * Answers the current ask by key. A key acts or is refused visibly: it is refused right after its card moved,
 * its ask appeared or the selection went on, because it was meant for what was there before.
 */
import { onKeyAnswer, pendingOf, sendNow, undoAnswer } from "../ask/giveAnswer";
import { openAsks } from "../card/headline";
import type { Ask } from "../generated/Ask";
import { openId, openSession, view } from "../lib/route";
import { unfolded } from "../lib/selection";
import { sessionSignal } from "../live/store";
import { isOffline } from "../live/stream";
import { askKeysOf } from "./askKeys";
import { askFocus, currentAskOf, targetId, unansweredAsks } from "./currentAsk";
import { cardElement, focusCard, needQueue } from "./cursor";
import { answerPicks, picks } from "./picks";
import { NOT_CONNECTED, refuse } from "./refusal";

/** After the selection moved by itself, a key within this time was meant for the previous ask. */
const AFTER_ANSWER_MS = 400;

/** Keys that only answer asks. On a card without an ask they are refused. */
export const ANSWER_KEYS = /^([ydaD[\]]|[1-9])$/;

const OFFLINE = `${NOT_CONNECTED}, so nothing can be answered here`;

/** The last answer by key, and when its key was pressed. */
let last: { ask: Ask; key: string; at: number } | null = null;

export function startAnswerKeys(): void {
  onKeyAnswer((ask, event) => {
    last = { ask, key: event instanceof KeyboardEvent ? event.key : "Enter", at: event.timeStamp };
    selectNextAsk(ask);
  });
}

/** Returns whether the key belongs to an ask: it acted, or it was refused. */
export function pressAnswerKey(event: KeyboardEvent): boolean {
  if (
    openId.value === null &&
    view.value === "board" &&
    picks.value.length > 0 &&
    ANSWER_KEYS.test(event.key)
  )
    return pressOnPicks(event);
  const id = targetId();
  const session = id === null ? undefined : sessionSignal(id)?.peek();
  const ask = session ? currentAskOf(session) : null;
  const onPage = openId.value !== null || view.value === "board";
  if (!onPage || !ask) return refuseWithoutAsk(event, id !== null && onPage);
  const inDrawer = openId.value !== null;
  const found = askKeysOf(ask.id, inDrawer)[event.key];
  if (!found && !ANSWER_KEYS.test(event.key)) return false;
  // A held key counts once.
  if (event.repeat) return true;
  if (isSecondPress(event) || sendsPending(ask, event)) return true;
  const place = askElement(ask, inDrawer);
  const why = guard(ask, place, inDrawer, event) ?? (found ? found.act(event) : "no such key here");
  if (why !== null) refuse(event.key, why, place?.closest("[data-card]") ?? place);
  else keepFocus(place);
  return true;
}

/** Picked cards are answered together, wherever the selection is. */
function pressOnPicks(event: KeyboardEvent): true {
  if (event.repeat || isSecondPress(event)) return true;
  const decision = event.key === "y" ? "allow" : event.key === "d" ? "deny" : null;
  const why = isOffline.peek()
    ? OFFLINE
    : decision === null
      ? "several cards are picked, Esc clears them"
      : answerPicks(decision, event);
  if (why !== null) refuse(event.key, why, cursorCard());
  return true;
}

function refuseWithoutAsk(event: KeyboardEvent, selected: boolean): boolean {
  if (!ANSWER_KEYS.test(event.key)) return false;
  if (event.repeat || isSecondPress(event)) return true;
  const why = selected ? "this session asks nothing" : "no card is selected, n goes to the next";
  refuse(event.key, why, cursorCard());
  return true;
}

const cursorCard = () => {
  const id = targetId();
  return id === null ? null : cardElement(id);
};

/** A second press of the same key, before the person could read anything else, sends the answer at once. */
function isSecondPress(event: KeyboardEvent): boolean {
  if (!last || event.key !== last.key || event.timeStamp - last.at >= AFTER_ANSWER_MS) return false;
  sendNow(last.ask.id);
  return true;
}

/** The same key on the card of a pending answer sends it too. */
function sendsPending(ask: Ask, event: KeyboardEvent): boolean {
  return pendingOf(ask.id)?.key === event.key && sendNow(ask.id);
}

/** Why the key must not act now, or null. */
function guard(ask: Ask, place: Element | null, inDrawer: boolean, event: KeyboardEvent): string | null {
  if (isOffline.peek()) return OFFLINE;
  if (pendingOf(ask.id)) return "it is answered already, z takes that back";
  if (last && last.ask.id !== ask.id && event.timeStamp - last.at < AFTER_ANSWER_MS)
    return "this one was selected just now";
  if (!place) return "its card is not drawn yet";
  if (!inDrawer && place.closest("[data-moved]")) return "the card moved just now";
  if (place.hasAttribute("data-fresh")) return "this request appeared just now";
  if (!inDrawer && !isInView(place)) {
    if (place.closest(".row-detail")) unfolded.value = ask.session_id;
    place.scrollIntoView({ block: "nearest" });
    return "it was out of sight";
  }
  return null;
}

function askElement(ask: Ask, inDrawer: boolean): HTMLElement | null {
  const around = inDrawer ? "[data-drawer]" : "[data-card]";
  return document.querySelector(`${around} [data-ask="${CSS.escape(ask.id)}"]`);
}

/** The end of the ask, where its buttons are, must be visible in its lane. */
function isInView(ask: Element): boolean {
  const { bottom } = ask.getBoundingClientRect();
  const lane = (ask.closest("[data-lane]") ?? document.documentElement).getBoundingClientRect();
  return bottom > lane.top && bottom <= Math.min(lane.bottom, innerHeight) + 1;
}

/** The answer may have replaced the button with the focus: the focus stays in the ask, or goes to its card. */
function keepFocus(ask: HTMLElement | null): void {
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body) return;
    if (ask?.isConnected && !ask.hasAttribute("data-pending"))
      ask.querySelector<HTMLElement>("button, textarea")?.focus();
    else if (openId.value === null) cursorCard()?.focus({ preventScroll: true });
  });
}

/** After an answer: another ask of the same session, else the next card with an ask. */
function selectNextAsk(answered: Ask): void {
  const session = sessionSignal(answered.session_id)?.peek();
  const [sibling] = session ? unansweredAsks(session) : [];
  if (sibling) {
    askFocus.value = sibling.id;
    return;
  }
  const next = nextAskAfter(answered.session_id);
  if (next === null) return;
  if (openId.value !== null) openSession(next);
  else focusCard(next);
}

function nextAskAfter(id: string): string | null {
  const queue = needQueue();
  const at = queue.indexOf(id);
  const inOrder = [...queue.slice(at + 1), ...queue.slice(0, Math.max(0, at))];
  return inOrder.find((other) => hasUnanswered(other)) ?? null;
}

function hasUnanswered(id: string): boolean {
  const session = sessionSignal(id)?.peek();
  return session !== undefined && openAsks(session).length > 0 && unansweredAsks(session).length > 0;
}

/** z: takes the last answer back and selects its ask again. */
export function pressUndo(): void {
  const ask = undoAnswer();
  if (!ask) {
    refuse("z", "there is nothing to take back");
    return;
  }
  last = null;
  askFocus.value = ask.id;
  if (openId.value !== null) openSession(ask.session_id);
  else focusCard(ask.session_id);
}
