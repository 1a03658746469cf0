//! What this person likes, remembered in this browser.
import { effect } from "@preact/signals";
import { remembered } from "./storage";

export type Sort = "default" | "urgency";
export type Grouping = "none" | "quiet" | "all";
export type Density = "comfortable" | "compact";
export type Theme = "system" | "light" | "dark";

export const sort = remembered<Sort>("sort", "default");
/** "quiet" groups Running and Done and leaves Needs You one queue. */
export const grouping = remembered<Grouping>("grouping", "quiet");
export const density = remembered<Density>("density", "comfortable");
export const theme = remembered<Theme>("theme", "system");
export const showDone = remembered<boolean>("show-done", true);
export const folded = remembered<string[]>("folded", []);

export function toggleFolded(key: string): void {
  const keys = folded.value;
  folded.value = keys.includes(key) ? keys.filter((k) => k !== key) : [...keys, key];
}

export function nextTheme(): void {
  const dark = theme.value === "dark" || (theme.value === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  theme.value = dark ? "light" : "dark";
}

/** Puts theme and density on the root element, where the tokens read them. `?theme=` wins, for pictures. */
export function applyPrefs(): void {
  const asked = new URLSearchParams(location.search).get("theme");
  const root = document.documentElement;
  effect(() => {
    const chosen = asked ?? (theme.value === "system" ? "" : theme.value);
    if (chosen) root.dataset.theme = chosen;
    else delete root.dataset.theme;
  });
  effect(() => {
    root.dataset.density = density.value;
  });
}
