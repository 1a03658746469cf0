/**
 * Alerts the person when a session starts to need them, if they turned alerts on. An alert waits one second
 * first, because a background wake-up can follow Stop within 100 ms.
 */
import { signal } from "@preact/signals";
import { isUncovered } from "../board/onScreen";
import type { Session } from "../generated/Session";
import { cardElement } from "../keys/cursor";
import { clockTime } from "../lib/format";
import { openId, openSession } from "../lib/route";
import { onSessionChanges, sessionSignal } from "../live/store";
import { isNewNeed } from "./newNeed";
import { isQuiet, mutedProjects, mutedSessions, settings, urgencyOf } from "./settings";
import { chime } from "./sound";

const ALERT_DELAY_MS = 1_000;

/**
 * The text for the screen reader's polite live region. The count changes each time, so the same text is read
 * again.
 */
export const announcement = signal({ count: 0, text: "" });
/** Longest announcement, in sentences; further sessions are only counted. */
const ANNOUNCED_MAX = 5;

/** Sessions whose alert is pending, with the state it is about and its due time. */
const pending = new Map<string, { state: string; due: number }>();

export function startAlerts(): void {
  onSessionChanges((changes) => {
    for (const change of changes) {
      const { id, agent_state } = change.after;
      if (agent_state.group !== "needs_you") pending.delete(id);
      else if (isNewNeed(change)) scheduleAlert(id, agent_state.state);
    }
    // Browsers delay the timers of a hidden page by up to a minute. Changes still arrive, so due alerts are
    // also checked here.
    sendDueAlerts();
  });
}

function scheduleAlert(id: string, state: string): void {
  pending.set(id, { state, due: Date.now() + ALERT_DELAY_MS });
  setTimeout(sendDueAlerts, ALERT_DELAY_MS + 10);
}

function sendDueAlerts(): void {
  const ready: Session[] = [];
  for (const [id, { state, due }] of pending) {
    if (due > Date.now()) continue;
    pending.delete(id);
    const session = sessionSignal(id)?.peek();
    if (session?.agent_state.state === state) ready.push(session);
  }
  if (ready.length === 0) return;
  announce(ready);
  for (const session of ready) sendAlert(session);
}

function announce(ready: Session[]): void {
  const sentences = ready
    .slice(0, ANNOUNCED_MAX)
    .map((s) => `${s.project.name} needs you: ${s.agent_state.label}.`);
  if (ready.length > ANNOUNCED_MAX) sentences.push(`And ${ready.length - ANNOUNCED_MAX} more.`);
  announcement.value = { count: announcement.peek().count + 1, text: sentences.join(" ") };
}

function sendAlert(session: Session): void {
  const chosen = settings.peek();
  const loudness = chosen[urgencyOf(session.waiting)];
  const muted =
    mutedSessions.peek().includes(session.id) || mutedProjects.peek().includes(session.project.name);
  if (
    !chosen.on ||
    loudness === "off" ||
    muted ||
    isQuiet(chosen, clockTime(Date.now())) ||
    isOnScreen(session.id)
  )
    return;
  notify(session);
  if (loudness === "sound") chime();
}

function isOnScreen(id: string): boolean {
  if (document.hidden || !document.hasFocus()) return false;
  if (openId.peek() === id) return true;
  const card = cardElement(id);
  return card !== null && isUncovered(card);
}

/** With `renotify`, a second notification of the same session replaces the first and alerts again. */
type NoteOptions = NotificationOptions & { renotify: boolean };

function notify(session: Session): void {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  const options: NoteOptions = {
    body: [session.title, [session.project.name, session.git_branch].filter(Boolean).join(" · ")]
      .filter(Boolean)
      .join("\n"),
    tag: session.id,
    renotify: true,
    icon: "/icon-192.png",
    silent: true,
  };
  try {
    const note = new Notification(session.agent_state.label, options);
    note.onclick = () => {
      window.focus();
      openSession(session.id);
      note.close();
    };
  } catch {
    // Chrome on Android has the Notification class but allows it only in service workers. Sound and tab title
    // still work.
  }
}

/** Asks the browser for permission and returns whether notifications may be shown. */
export async function askPermission(): Promise<boolean> {
  if (!("Notification" in window)) return false;
  return (await Notification.requestPermission()) === "granted";
}
