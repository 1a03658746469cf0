/**
 * Keyboard shortcuts. On the board, letters move and act. In an ask, and in the drawer if it shows one open
 * ask, y, n and digits answer. Keys in text fields are ignored.
 */

import { layout } from "../board/currentLayout";
import { goToTerminal, mute } from "../card/actions";
import { openAsks } from "../card/headline";
import { closeSession, goTo, openId, openSession, type View, view } from "../lib/route";
import { sessionSignal } from "../live/store";
import { overlay } from "../overlay/overlay";
import { askKeyAction } from "./askKeys";
import { cardElement, cursor, firstOf, focusCard, nextNeed, stepInLane, stepLane, stepRow } from "./cursor";

/**
 * Answer keys are ignored for this long after cards moved or the asks changed: the key was meant for what was
 * there before.
 */
export const AFTER_MOVE_MS = 400;
/** Attribute of the root element during that time. */
const SETTLING = "data-settling";
const PREFIX_MS = 1_500;

let settled: ReturnType<typeof setTimeout> | undefined;
let prefixAt = Number.NEGATIVE_INFINITY;

const typing = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

export function startKeys(): void {
  const page = document.documentElement;
  layout.subscribe(() => {
    page.setAttribute(SETTLING, "");
    clearTimeout(settled);
    settled = setTimeout(() => page.removeAttribute(SETTLING), AFTER_MOVE_MS);
  });
  // A held Enter counts once. Repeats would press the button that the first press focused.
  addEventListener(
    "keydown",
    (event) => {
      if (event.repeat && event.key === "Enter" && !typing(event.target)) event.preventDefault();
    },
    { capture: true },
  );
  addEventListener("keydown", (event) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
      overlay.value = overlay.value === "palette" ? null : "palette";
      event.preventDefault();
      return;
    }
    if (
      event.metaKey ||
      event.ctrlKey ||
      event.altKey ||
      event.defaultPrevented ||
      overlay.value ||
      typing(event.target)
    )
      return;
    if (inAsk(event) || onPage(event)) event.preventDefault();
  });
}

const ANSWERS = /^[yn1-9]$/;

/** The ask that contains the focus. In the drawer, answer keys also reach the only open ask from outside it. */
function askFor({ target, key }: KeyboardEvent): HTMLElement | null {
  const focused = target instanceof Element ? target.closest<HTMLElement>("[data-ask]") : null;
  if (focused || openId.value === null || !ANSWERS.test(key)) return focused;
  const session = sessionSignal(openId.value)?.peek();
  const [only, ...others] = session ? openAsks(session) : [];
  if (!only || others.length > 0) return null;
  return document.querySelector<HTMLElement>(`[data-drawer] [data-ask="${CSS.escape(only.id)}"]`);
}

/** y, n and digits do what the button with that key cap does. */
function inAsk(event: KeyboardEvent): boolean {
  const ask = askFor(event);
  if (!ask) return false;
  if (event.key === "Escape") {
    ask.closest<HTMLElement>("[data-card]")?.focus();
    return openId.value === null;
  }
  const moved =
    openId.value === null
      ? document.documentElement.hasAttribute(SETTLING)
      : ask.closest("[data-new]") !== null;
  if (moved || event.repeat) return ANSWERS.test(event.key);
  const act = askKeyAction(ask.dataset.ask ?? "", ask.closest("[data-drawer]") !== null, event.key);
  if (!act) return false;
  act(event);
  keepFocus(ask);
  return true;
}

/** The answer may have replaced the button with the focus: the focus stays in the ask, or goes to its card. */
function keepFocus(ask: HTMLElement): void {
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body) return;
    if (ask.isConnected) ask.querySelector<HTMLElement>("button, textarea")?.focus();
    else if (cursor.value && openId.value === null) cardElement(cursor.value)?.focus({ preventScroll: true });
  });
}

function onPage(event: KeyboardEvent): boolean {
  // Compares when the keys were pressed, not when a busy page handled them.
  if (event.timeStamp - prefixAt < PREFIX_MS) {
    prefixAt = Number.NEGATIVE_INFINITY;
    return afterG(event.key);
  }
  const id = openId.value ?? cursor.value;
  switch (event.key) {
    case "j":
    case "ArrowDown":
      return inOverview(() => stepRow(1)) || onBoard(() => stepInLane(1));
    case "k":
    case "ArrowUp":
      return inOverview(() => stepRow(-1)) || onBoard(() => stepInLane(-1));
    case "h":
    case "ArrowLeft":
      return onBoard(() => stepLane(-1));
    case "l":
    case "ArrowRight":
      return onBoard(() => stepLane(1));
    case "n":
      return onBoard(() => void nextNeed());
    case "g":
      prefixAt = event.timeStamp;
      return true;
    case "/":
      document.getElementById("search")?.focus();
      return true;
    case "?":
      overlay.value = "help";
      return true;
    case "Enter":
      return enter(event);
    case "o":
      return id !== null && openId.value === null && did(() => openSession(id));
    case "t":
      return id !== null && did(() => void goToTerminal(id));
    case "m":
      return id !== null && did(() => mute(id));
    case "Escape":
      return leaveSession();
    default:
      return false;
  }
}

function did(act: () => void): true {
  act();
  return true;
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
    b: () => goTo("board"),
    o: () => goTo("overview"),
    n: () => firstOf(["permissions", "replies"]),
    r: () => firstOf(["running"]),
    d: () => firstOf(["done"]),
    u: () => {
      overlay.value = "usage";
    },
  };
  views[key]?.();
  return key in views;
}

/** Enter on a card focuses its ask if it has one to answer, else opens the session. */
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

/** In the drawer Enter focuses the ask too, unless the focus is on a button or link. */
function enterDrawerAsk(event: KeyboardEvent): boolean {
  if (event.target instanceof Element && event.target.closest("button, a")) return false;
  const button = document.querySelector<HTMLElement>(
    "[data-drawer] [data-ask] .btn.primary, [data-drawer] [data-ask] .option",
  );
  button?.focus();
  return button !== null;
}

function leaveSession(): boolean {
  if (openId.value === null) return false;
  const back = openId.value;
  closeSession();
  if (view.value === "board") focusCard(back);
  return true;
}
