//! Which card holds still: the one under the pointer, else the one with the focus, while the person is doing something.
import { effect, signal } from "@preact/signals";
import { releaseHeld } from "./flip";
import { held } from "./shown";

/** A pointer parked on a card must not freeze it for good. */
const PATIENCE_MS = 8_000;

const pointed = signal<string | null>(null);
const focused = signal<string | null>(null);
const active = signal(false);
let rest: ReturnType<typeof setTimeout> | undefined;

const cardAt = (target: EventTarget | null) =>
  target instanceof Element ? (target.closest<HTMLElement>("[data-card]")?.dataset.card ?? null) : null;

function stir(): void {
  active.value = true;
  clearTimeout(rest);
  rest = setTimeout(() => {
    active.value = false;
  }, PATIENCE_MS);
}

export function startHolding(): void {
  document.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    pointed.value = cardAt(event.target);
    if (pointed.value) stir();
  }, { passive: true });
  document.documentElement.addEventListener("pointerleave", () => {
    pointed.value = null;
  });
  document.addEventListener("focusin", (event) => {
    focused.value = cardAt(event.target);
    if (focused.value) stir();
  });
  document.addEventListener("focusout", () => {
    focused.value = null;
  });
  document.addEventListener("keydown", () => focused.value && stir());
  effect(() => {
    const next = active.value ? (pointed.value ?? focused.value) : null;
    if (held.peek() === next) return;
    const left = held.peek() !== null;
    held.value = next;
    if (left) releaseHeld();
  });
}
