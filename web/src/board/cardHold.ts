/**
 * Decides which card must not move: the card with the text field or ask that has the focus, else the card
 * under the pointer, else the card with the focus.
 */
import { effect } from "@preact/signals";
import { revision } from "../live/store";
import { anchor, releaseHeld } from "./cardMotion";
import { heldCard } from "./currentLayout";

/**
 * A resting pointer or focus holds a card only for this long. On an ask it holds the card until it leaves,
 * because the person reads it.
 */
const HOLD_IDLE_MS = 8_000;

const TEXT_ENTRY = "[data-ask], textarea, input, select";

let hovered: Element | null = null;
let pointer = { x: 0, y: 0 };
let active = false;
/**
 * While a pointer is pressed no card is released: the lane would close up, what is under the pointer would move away,
 * and the click would be lost.
 */
let pressed = false;
let idleTimer: ReturnType<typeof setTimeout> | undefined;

const cardIdOf = (element: Element | null) =>
  element?.closest<HTMLElement>("[data-card]")?.dataset.card ?? null;
const cardIdIfInside = (element: Element | null, selector: string) =>
  element?.closest(selector) ? cardIdOf(element) : null;

/** Reads focus and pointer from the document each time, because an element can disappear without an event. */
function updateHold(): void {
  if (hovered && !hovered.isConnected) hovered = document.elementFromPoint(pointer.x, pointer.y);
  const focus = document.activeElement;
  hold(
    cardIdIfInside(focus, TEXT_ENTRY) ??
      cardIdIfInside(hovered, "[data-ask]") ??
      (active ? (cardIdOf(hovered) ?? cardIdOf(focus)) : null),
  );
}

let nextFrame = 0;

/**
 * Updates after the next frame was drawn. A hidden page draws no frames, so only the last request is kept.
 */
function updateHoldNextFrame(): void {
  cancelAnimationFrame(nextFrame);
  nextFrame = requestAnimationFrame(updateHold);
}

function hold(next: string | null): void {
  const before = heldCard.peek();
  if (before === next || (pressed && before !== null)) return;
  if (before !== null) releaseHeld(next);
  anchor(next);
  heldCard.value = next;
}

function noteActivity(): void {
  active = true;
  clearTimeout(idleTimer);
  idleTimer = setTimeout(() => {
    active = false;
    if (hovered) hovered = document.elementFromPoint(pointer.x, pointer.y);
    updateHold();
  }, HOLD_IDLE_MS);
}

/** A click follows its pointerup at once. */
function watchPresses(): void {
  const release = () =>
    setTimeout(() => {
      pressed = false;
      updateHold();
    });
  document.addEventListener(
    "pointerdown",
    () => {
      pressed = true;
    },
    { capture: true, passive: true },
  );
  for (const end of ["pointerup", "pointercancel"]) addEventListener(end, release, { capture: true });
}

export function startCardHold(): void {
  watchPresses();
  document.addEventListener(
    "pointermove",
    (event) => {
      if (event.pointerType === "touch") return;
      hovered = event.target instanceof Element ? event.target : null;
      pointer = { x: event.clientX, y: event.clientY };
      if (cardIdOf(hovered)) noteActivity();
      updateHold();
    },
    { passive: true },
  );
  document.documentElement.addEventListener("pointerleave", () => {
    hovered = null;
    updateHold();
  });
  document.addEventListener("focusin", () => {
    if (cardIdOf(document.activeElement)) noteActivity();
    updateHold();
  });
  // If the focus moves to another element, focusin follows and handles it.
  document.addEventListener("focusout", (event) => event.relatedTarget === null && updateHoldNextFrame());
  document.addEventListener("keydown", () => {
    if (!cardIdOf(document.activeElement)) return;
    noteActivity();
    updateHold();
  });
  // Answering an ask removes the button that had the focus.
  effect(() => {
    void revision.value;
    if (heldCard.peek() !== null) updateHoldNextFrame();
  });
}
