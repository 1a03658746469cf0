/**
 * Tells the daemon which sessions the person sees on this page now, so that it sends no notification about those. A page
 * without input for some minutes counts as not seen, although it is visible.
 */
import { isInUse } from "../lib/presence";
import { postVisibility } from "./api";
import { isLarge } from "./store";
import { isOffline } from "./stream";

/** The daemon forgets a page after 45 seconds. */
const REPORT_MS = 20_000;

/** While no notifications are sent. The person may configure them at any time. */
const UNWANTED_REPORT_MS = 60_000;

/** A notification is sent a second after the state that it is about, by default. A large fleet moves once a second. */
const CHECK_MS = 500;
const LARGE_CHECK_MS = 1_000;

/** Tells this page from others. */
const viewer = Math.random().toString(36).slice(2);

type Report = { visible: boolean; sessions: string[] };
const HIDDEN: Report = { visible: false, sessions: [] };

let timer: ReturnType<typeof setTimeout> | undefined;
let wanted = true;
/** What the daemon was told last, and when. */
let last: { text: string; at: number } | null = null;

/** `onScreen` reads the page. It is called every half second or second while the page is in use and notifications are sent. */
export function reportVisibility(onScreen: () => string[]): void {
  const isSeen = () => document.visibilityState === "visible" && isInUse();
  const check = () => {
    clearTimeout(timer);
    report(isSeen() ? { visible: true, sessions: onScreen() } : HIDDEN);
    // A hidden page is checked again when it is shown.
    if (document.visibilityState === "visible") timer = setTimeout(check, pauseMs());
  };
  document.addEventListener("visibilitychange", check);
  addEventListener("pagehide", () => {
    clearTimeout(timer);
    report(HIDDEN);
  });
  check();
}

const pauseMs = () => (!wanted ? UNWANTED_REPORT_MS : isLarge() ? LARGE_CHECK_MS : CHECK_MS);

function report(now: Report): void {
  // The daemon is away and sends no notification either. It is told when it is back.
  if (isOffline.peek()) return;
  const text = JSON.stringify(now);
  const age = Date.now() - (last?.at ?? 0);
  if (text === last?.text && (!now.visible || age < REPORT_MS)) return;
  last = { text, at: Date.now() };
  postVisibility({ viewer, ...now }).then(
    (noted) => {
      wanted = noted.wanted;
    },
    () => {
      last = null;
    },
  );
}
