/** Keys that answer an ask: each ask registers the functions its buttons call, and the keyboard calls them too. */
import { type Signal, signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

/**
 * One function per key. It gets the key event where its button passes the mouse event. A returned text says
 * why the key was refused. A key without a label is never valid; pressing it only shows its refusal.
 */
export type AskKey = { label: string | null; act: (event: UIEvent) => string | null };
export type AskKeys = Record<string, AskKey>;

/** Makes a key of a function that always acts. */
export const key = (label: string, act: (event: UIEvent) => void): AskKey => ({
  label,
  act: (event) => {
    act(event);
    return null;
  },
});

/** A key that is refused for now, with the reason. */
export const refused = (why: string): AskKey => ({ label: null, act: () => why });

/** An ask can be on its card and in the drawer at the same time, with different keys. */
const registered = new Map<string, Signal<AskKeys>>();
const placeOf = (askId: string, inDrawer: boolean) => `${inDrawer ? "drawer" : "card"} ${askId}`;

/** Registers the keys for as long as the ask is on the page. */
export function useAskKeys(askId: string, inDrawer: boolean, keys: AskKeys): void {
  const place = placeOf(askId, inDrawer);
  useLayoutEffect(() => {
    slot(place).value = keys;
  });
  useLayoutEffect(
    () => () => {
      registered.delete(place);
    },
    [place],
  );
}

function slot(place: string): Signal<AskKeys> {
  const known = registered.get(place);
  if (known) return known;
  const created = signal<AskKeys>({});
  registered.set(place, created);
  return created;
}

/** Reading it in a component redraws that component when the keys change. */
export const askKeysOf = (askId: string, inDrawer: boolean): AskKeys =>
  registered.get(placeOf(askId, inDrawer))?.value ?? {};
