//! The keyboard. On the board, letters move and act; inside an ask, and over the only one of an open session, y, n and digits
//! answer; in a text field nothing is taken.
import { goToTerminal, mute } from "../card/actions";
import { openAsks } from "../card/headline";
import { layout } from "../board/shown";
import { closeSession, goTo, openId, openSession, view, type View } from "../lib/route";
import { sessionSignal } from "../live/store";
import { overlay } from "../overlay/overlay";
import { cardElement, cursor, firstOf, focusCard, nextNeed, stepInLane, stepLane, stepRow } from "./cursor";

/** No answer within this time after cards moved or an ask came: the key was meant for what stood here before. */
export const AFTER_MOVE_MS = 400;
/** On the document for as long as that is. */
const SETTLING = "data-settling";
const PREFIX_MS = 1_500;

let settled: ReturnType<typeof setTimeout> | undefined;
let prefixAt = Number.NEGATIVE_INFINITY;

const typing = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

export function startKeys(): void {
  const page = document.documentElement;
  layout.subscribe(() => {
    page.setAttribute(SETTLING, "");
    clearTimeout(settled);
    settled = setTimeout(() => page.removeAttribute(SETTLING), AFTER_MOVE_MS);
  });
  // A held Enter is one press: it would click the button that the first one led to, and the one after that.
  addEventListener("keydown", (event) => {
    if (event.repeat && event.key === "Enter" && !typing(event.target)) event.preventDefault();
  }, { capture: true });
  addEventListener("keydown", (event) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
      overlay.value = overlay.value === "palette" ? null : "palette";
      event.preventDefault();
      return;
    }
    if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented || overlay.value || typing(event.target)) return;
    if (inAsk(event) || onPage(event)) event.preventDefault();
  });
}

const ANSWERS = /^[yn1-9]$/;

/** The ask the focus is in; in an open session, which shows all of what it asks, the only one there is. */
function askFor({ target, key }: KeyboardEvent): HTMLElement | null {
  const within = target instanceof Element ? target.closest<HTMLElement>("[data-ask]") : null;
  return within ?? (ANSWERS.test(key) ? document.querySelector<HTMLElement>("[data-drawer] .lone [data-ask]") : null);
}

/** y, n and digits press the button that shows them. */
function inAsk(event: KeyboardEvent): boolean {
  const ask = askFor(event);
  if (!ask) return false;
  if (event.key === "Escape") {
    ask.closest<HTMLElement>("[data-card]")?.focus();
    return openId.value === null;
  }
  const moved = openId.value === null ? document.documentElement.hasAttribute(SETTLING) : ask.closest("[data-new]") !== null;
  if (moved || event.repeat) return ANSWERS.test(event.key);
  if (ANSWERS.test(event.key)) {
    const button = ask.querySelector<HTMLButtonElement>(`button[aria-keyshortcuts="${event.key}"]`);
    if (!button) return false;
    press(ask, button);
    return true;
  }
  return false;
}

/** A second press (a confirmation) is a new button in the same place; keep the focus inside the ask for it. */
function press(ask: HTMLElement, button: HTMLButtonElement): void {
  button.click();
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body) return;
    if (ask.isConnected) ask.querySelector<HTMLElement>("button, textarea")?.focus();
    else if (cursor.value && openId.value === null) cardElement(cursor.value)?.focus({ preventScroll: true });
  });
}

function onPage(event: KeyboardEvent): boolean {
  // By when the keys were pressed, not by when a busy page came to them.
  if (event.timeStamp - prefixAt < PREFIX_MS) {
    prefixAt = Number.NEGATIVE_INFINITY;
    return afterG(event.key);
  }
  const id = openId.value ?? cursor.value;
  switch (event.key) {
    case "j": case "ArrowDown": return inOverview(() => stepRow(1)) || onBoard(() => stepInLane(1));
    case "k": case "ArrowUp": return inOverview(() => stepRow(-1)) || onBoard(() => stepInLane(-1));
    case "h": case "ArrowLeft": return onBoard(() => stepLane(-1));
    case "l": case "ArrowRight": return onBoard(() => stepLane(1));
    case "n": return onBoard(() => void nextNeed());
    case "g": prefixAt = event.timeStamp; return true;
    case "/": document.getElementById("search")?.focus(); return true;
    case "?": overlay.value = "help"; return true;
    case "Enter": return enter(event);
    case "o": return id !== null && openId.value === null && (openSession(id), true);
    case "t": return id !== null && (void goToTerminal(id), true);
    case "m": return id !== null && (mute(id), true);
    case "Escape": return escape();
    default: return false;
  }
}

function inView(name: View, act: () => void): boolean {
  if (openId.value !== null || view.value !== name) return false;
  act();
  return true;
}
const onBoard = (act: () => void) => inView("board", act);
const inOverview = (act: () => void) => inView("overview", act);

function afterG(key: string): boolean {
  const views: Record<string, () => void> = {
    b: () => goTo("board"), o: () => goTo("overview"), n: () => firstOf(["permissions", "replies"]),
    r: () => firstOf(["running"]), d: () => firstOf(["done"]), u: () => { overlay.value = "usage"; },
  };
  views[key]?.();
  return key in views;
}

/** Enter on a card goes into its ask if it has one to answer, else opens the session. */
function enter(event: KeyboardEvent): boolean {
  if (openId.value !== null) return enterDrawerAsk(event);
  const id = event.target instanceof HTMLElement ? event.target.dataset.card : undefined;
  if (!id) return false;
  const session = sessionSignal(id)?.peek();
  const button = cardElement(id)?.querySelector<HTMLElement>("[data-ask] .btn.primary, [data-ask] .option");
  if (session && button && openAsks(session).length > 0) button.focus();
  else openSession(id);
  return true;
}

/** In the drawer Enter goes into the ask too, unless it is on something that Enter already presses. */
function enterDrawerAsk(event: KeyboardEvent): boolean {
  if (event.target instanceof Element && event.target.closest("button, a")) return false;
  const button = document.querySelector<HTMLElement>("[data-drawer] [data-ask] .btn.primary, [data-drawer] [data-ask] .option");
  button?.focus();
  return button !== null;
}

function escape(): boolean {
  if (openId.value === null) return false;
  const back = openId.value;
  closeSession();
  if (view.value === "board") focusCard(back);
  return true;
}
