//! Which card holds still: the one a person writes or answers in, else the one under the pointer, else the one with the focus.
import { effect } from "@preact/signals";
import { revision } from "../live/store";
import { anchor, releaseHeld } from "./flip";
import { held } from "./shown";

/** A pointer parked on a card must not freeze it for good. On an ask it may: somebody reads what they will allow. */
const PATIENCE_MS = 8_000;

const WRITING = "[data-ask], textarea, input, select";

let under: Element | null = null;
let at = { x: 0, y: 0 };
let active = false;
let rest: ReturnType<typeof setTimeout> | undefined;

const cardOf = (element: Element | null) => element?.closest<HTMLElement>("[data-card]")?.dataset.card ?? null;
const cardIfIn = (element: Element | null, what: string) => (element?.closest(what) ? cardOf(element) : null);

/** Asks the document each time: what had the focus or the pointer may have gone without an event. */
function look(): void {
  if (under && !under.isConnected) under = document.elementFromPoint(at.x, at.y);
  const focus = document.activeElement;
  hold(cardIfIn(focus, WRITING) ?? cardIfIn(under, "[data-ask]") ?? (active ? (cardOf(under) ?? cardOf(focus)) : null));
}

let soon = 0;

/** When what changed is drawn. A hidden page draws nothing, so one call waits there, not all. */
function lookSoon(): void {
  cancelAnimationFrame(soon);
  soon = requestAnimationFrame(look);
}

function hold(next: string | null): void {
  const before = held.peek();
  if (before === next) return;
  if (before !== null) releaseHeld(next);
  anchor(next);
  held.value = next;
}

function stir(): void {
  active = true;
  clearTimeout(rest);
  rest = setTimeout(() => {
    active = false;
    if (under) under = document.elementFromPoint(at.x, at.y);
    look();
  }, PATIENCE_MS);
}

export function startHolding(): void {
  document.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    under = event.target instanceof Element ? event.target : null;
    at = { x: event.clientX, y: event.clientY };
    if (cardOf(under)) stir();
    look();
  }, { passive: true });
  document.documentElement.addEventListener("pointerleave", () => {
    under = null;
    look();
  });
  document.addEventListener("focusin", () => {
    if (cardOf(document.activeElement)) stir();
    look();
  });
  // Where the focus goes on to something, focusin follows; in between nothing would be held.
  document.addEventListener("focusout", (event) => event.relatedTarget === null && lookSoon());
  document.addEventListener("keydown", () => {
    if (!cardOf(document.activeElement)) return;
    stir();
    look();
  });
  // An answered ask takes the button with the focus away.
  effect(() => {
    void revision.value;
    if (held.peek() !== null) lookSoon();
  });
}
