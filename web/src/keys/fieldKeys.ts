/** Keys that act in the text field with the focus. All others type there. */
import { effect, type Signal, signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { revision } from "../live/store";
import type { ValidKey } from "./validKeys";

/** True if letters are typed into it. */
export const isTextField = (target: EventTarget | null): target is HTMLElement =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    /^(TEXTAREA|SELECT)$/.test(target.tagName) ||
    (target instanceof HTMLInputElement && !/^(checkbox|radio)$/.test(target.type)));

const focused = signal<HTMLElement | null>(null);
const registered = new WeakMap<Element, Signal<ValidKey[]>>();

/** What the field's own key handler does. A field without an entry is only left by Escape. */
export function useFieldKeys(field: RefObject<HTMLElement | null>, keys: ValidKey[]): void {
  useLayoutEffect(() => {
    if (field.current) slot(field.current).value = keys;
  });
  useLayoutEffect(() => {
    const element = field.current;
    return () => {
      // A field that is removed with the focus in it may not report that it lost the focus.
      if (focused.peek() === element) focused.value = null;
    };
  }, []);
}

function slot(field: Element): Signal<ValidKey[]> {
  const known = registered.get(field) ?? signal<ValidKey[]>([]);
  registered.set(field, known);
  return known;
}

/** The name of the field with the focus and its keys, or null. */
export function focusedField(): { name: string; keys: ValidKey[] } | null {
  const field = focused.value;
  if (!field?.isConnected) return null;
  const keys = registered.get(field)?.value ?? [["Esc", "leave"]];
  return { name: field.getAttribute("aria-label") ?? "Text field", keys: [...keys, ["Ctrl K", "commands"]] };
}

export function startFieldKeys(): void {
  const follow = () => {
    focused.value = isTextField(document.activeElement) ? document.activeElement : null;
  };
  document.addEventListener("focusin", follow);
  // If the focus moves to another element, focusin follows and handles it.
  document.addEventListener("focusout", (event) => event.relatedTarget === null && setTimeout(follow));
  effect(() => {
    void revision.value;
    if (focused.peek()) setTimeout(follow);
  });
}

/**
 * Escape leaves a field without a handler of its own: to its card or the text of the drawer, and from the search to
 * the selected card.
 */
export function leaveField(event: KeyboardEvent): boolean {
  if (event.key !== "Escape" || event.defaultPrevented || !isTextField(event.target)) return false;
  const drawer = event.target.closest("[data-drawer]")?.querySelector<HTMLElement>(".drawer-main");
  const isSearch = event.target.id === "search";
  const selected = isSearch ? document.querySelector<HTMLElement>('[data-card][aria-current="true"]') : null;
  const place = drawer ?? event.target.closest<HTMLElement>("[data-card]") ?? selected;
  if (place) place.focus({ preventScroll: true });
  else if (isSearch) event.target.blur();
  else return false;
  return true;
}
