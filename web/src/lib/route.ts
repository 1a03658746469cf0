/** The two views and the drawer over them, stored in the URL hash, so that every session has a link. */
import { signal } from "@preact/signals";

export type View = "board" | "overview";

export const view = signal<View>("board");
export const openId = signal<string | null>(null);

export const sessionHref = (id: string) => `#/session/${encodeURIComponent(id)}`;
export const viewHref = (name: View) => (name === "board" ? "#/" : "#/overview");

export function openSession(id: string): void {
  location.hash = sessionHref(id);
}

export function closeSession(): void {
  location.hash = viewHref(view.value);
}

export function goTo(name: View): void {
  location.hash = viewHref(name);
}

function read(): void {
  const path = location.hash.replace(/^#\/?/, "");
  const session = /^session\/(.+)$/.exec(path);
  openId.value = session?.[1] ? safeDecode(session[1]) : null;
  if (!session) view.value = path.startsWith("overview") ? "overview" : "board";
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function startRouting(): void {
  addEventListener("hashchange", read);
  read();
}
