/** The views and the drawer over them, stored in the URL hash, so that every session has a link. */
import { signal } from "@preact/signals";

export type View = "board" | "overview" | "log" | "efforts" | "hosts";

export const view = signal<View>("board");
/** The effort whose details are shown; null if the address names none. */
export const openEffortId = signal<string | null>(null);
export const openId = signal<string | null>(null);
/** The moment that the timeline of the open session is scrolled to. */
export const openAt = signal<string | null>(null);

export const sessionHref = (id: string, at?: string) =>
  `#/session/${encodeURIComponent(id)}${at ? `?at=${encodeURIComponent(at)}` : ""}`;
export const effortHref = (id: string) => `#/efforts/${encodeURIComponent(id)}`;
export const viewHref = (name: View) => (name === "board" ? "#/" : `#/${name}`);

/** In the drawer the next session takes the place of the open one, so that Back leads out of the drawer. */
export function openSession(id: string): void {
  if (openId.peek() === null) location.hash = sessionHref(id);
  else location.replace(sessionHref(id));
}

export function closeSession(): void {
  const effort = view.value === "efforts" ? openEffortId.value : null;
  location.hash = effort === null ? viewHref(view.value) : effortHref(effort);
}

export function goTo(name: View): void {
  location.hash = viewHref(name);
}

function read(): void {
  const [path = "", query] = location.hash.replace(/^#\/?/, "").split("?");
  const session = /^session\/(.+)$/.exec(path);
  openAt.value = session ? new URLSearchParams(query).get("at") : null;
  openId.value = session?.[1] ? safeDecode(session[1]) : null;
  if (session) return;
  view.value =
    (["overview", "log", "efforts", "hosts"] as const).find((name) => path.startsWith(name)) ?? "board";
  const effort = /^efforts\/(.+)$/.exec(path);
  openEffortId.value = effort?.[1] ? safeDecode(effort[1]) : null;
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
