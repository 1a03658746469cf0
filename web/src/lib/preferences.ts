/** The person's display preferences, stored in this browser. */
import { effect } from "@preact/signals";
import { isOffline } from "../live/stream";
import { persistentSignal } from "./storage";

export type Sort = "default" | "urgency" | "waiting";
export type Grouping = "none" | "quiet" | "all" | "host";
/** "rows": one line per running session. */
export type Density = "comfortable" | "compact" | "rows";
export type Theme = "system" | "light" | "dark";

/** Orders of Needs You, each explained in one line where it is chosen. */
export const ORDERS: Record<Sort, { label: string; explains: string }> = {
  default: {
    label: "Cache first",
    explains: "Warm prompt caches first, because a reply is cheap there; then urgency, then the newest.",
  },
  urgency: {
    label: "Urgency first",
    explains: "Permissions, then questions, interrupted, failed, plans, idle; then the newest.",
  },
  waiting: {
    label: "Longest waiting first",
    explains: "What blocks or asks before what is idle, the oldest first.",
  },
};

export const sort = persistentSignal<Sort>("sort", "default");
/** "quiet" groups Running and Done by project and leaves Needs You ungrouped. */
export const grouping = persistentSignal<Grouping>("grouping", "quiet");
export const density = persistentSignal<Density>("density", "comfortable");
export const theme = persistentSignal<Theme>("theme", "system");
export const showDone = persistentSignal<boolean>("show-done", true);
/** How long an answer given by a key can be taken back before it is sent, in seconds; 0 sends at once. */
export const undoSeconds = persistentSignal<number>("undo-seconds", 2);
/** Parked sessions are folded unless this is true. */
export const showParked = persistentSignal<boolean>("show-parked", false);
export const folded = persistentSignal<string[]>("folded", []);

export function toggleFolded(key: string): void {
  const keys = folded.value;
  folded.value = keys.includes(key) ? keys.filter((k) => k !== key) : [...keys, key];
}

export function nextTheme(): void {
  const dark =
    theme.value === "dark" ||
    (theme.value === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  theme.value = dark ? "light" : "dark";
}

/**
 * Sets theme, density and a lost connection on the root element, where the CSS reads them. `?theme=` overrides the theme, for
 * screenshots.
 */
export function applyPrefs(): void {
  const asked = new URLSearchParams(location.search).get("theme");
  const root = document.documentElement;
  effect(() => {
    const chosen = asked ?? (theme.value === "system" ? "" : theme.value);
    if (chosen) root.dataset.theme = chosen;
    else delete root.dataset.theme;
  });
  effect(() => {
    root.toggleAttribute("data-offline", isOffline.value);
  });
  effect(() => {
    root.dataset.density = density.value;
  });
}
