/**
 * Tells the daemon whether the person can see this page and which sessions it shows, so that it sends no
 * notification about those.
 */
import { effect } from "@preact/signals";
import { filter, filtering, matches } from "../board/filter";
import { view } from "../lib/route";
import { postVisibility } from "./api";
import { allSessions } from "./store";

/** The daemon forgets a page after 45 seconds. */
const REPORT_MS = 20_000;

/** While no notifications are sent. The person may configure them at any time. */
const UNWANTED_REPORT_MS = 60_000;

/** Tells this page from others. */
const viewer = Math.random().toString(36).slice(2);

let timer: ReturnType<typeof setTimeout> | undefined;

export function reportVisibility(): void {
  document.addEventListener("visibilitychange", () => report());
  addEventListener("pagehide", () => report(false));
  effect(() => {
    // Read here so that the effect runs again when they change.
    void filter.value;
    void view.value;
    report();
  });
}

function report(visible = document.visibilityState === "visible"): void {
  clearTimeout(timer);
  postVisibility({ viewer, visible, sessions: shownSessions() })
    .then(({ wanted }) => {
      clearTimeout(timer);
      if (visible) timer = setTimeout(() => report(), wanted ? REPORT_MS : UNWANTED_REPORT_MS);
    })
    // The daemon is away: it sends no notification either.
    .catch(() => {
      if (visible) timer = setTimeout(() => report(), REPORT_MS);
    });
}

/** All sessions are `null`. The overview has no cards to answer, so it counts as showing none. */
function shownSessions(): string[] | null {
  if (view.peek() !== "board") return [];
  if (!filtering.peek()) return null;
  const shown = Array.from(allSessions(), (held) => held.peek());
  return shown.filter((session) => matches(session, filter.peek())).map((session) => session.id);
}
