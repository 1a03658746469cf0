/** Keys that answer an ask: each ask registers the functions its buttons call, and the keyboard calls them too. */
import { useLayoutEffect } from "preact/hooks";

/** One function per key. It gets the key event where its button passes the mouse event. */
export type AskKeys = Record<string, (event: UIEvent) => void>;

/** An ask can be on its card and in the drawer at the same time, with different keys. */
const registered = new Map<string, AskKeys>();
const placeOf = (askId: string, inDrawer: boolean) => `${inDrawer ? "drawer" : "card"} ${askId}`;

/** Registers the keys for as long as the ask is on the page. */
export function useAskKeys(askId: string, inDrawer: boolean, keys: AskKeys): void {
  useLayoutEffect(() => {
    const place = placeOf(askId, inDrawer);
    registered.set(place, keys);
    return () => {
      if (registered.get(place) === keys) registered.delete(place);
    };
  });
}

export const askKeyAction = (askId: string, inDrawer: boolean, key: string) =>
  registered.get(placeOf(askId, inDrawer))?.[key];
