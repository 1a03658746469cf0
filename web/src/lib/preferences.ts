/** The person's display preferences, stored in this browser. */
import { effect } from "@preact/signals";
import { persistentSignal } from "./storage";

export type Sort = "default" | "urgency";
export type Grouping = "none" | "quiet" | "all";
export type Density = "comfortable" | "compact";
export type Theme = "system" | "light" | "dark";

export const sort = persistentSignal<Sort>("sort", "default");
/** "quiet" groups Running and Done by project and leaves Needs You ungrouped. */
export const grouping = persistentSignal<Grouping>("grouping", "quiet");
export const density = persistentSignal<Density>("density", "comfortable");
export const theme = persistentSignal<Theme>("theme", "system");
export const showDone = persistentSignal<boolean>("show-done", true);
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
 * Sets theme and density on the root element, where the CSS reads them. `?theme=` overrides the theme, for
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
    root.dataset.density = density.value;
  });
}
