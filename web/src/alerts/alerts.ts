//! Tells the person about a session that has just begun to need them, if they asked to be told.
//! An alert settles for a second first: a wake-up may follow Stop within 100 ms.
import { signal } from "@preact/signals";
import type { Session } from "../generated/Session";
import { clockTime } from "../lib/format";
import { openId, openSession } from "../lib/route";
import { onMoves, sessionSignal } from "../live/store";
import { cardElement } from "../keys/cursor";
import { entersNeed } from "./enters";
import { isQuiet, mutedProjects, mutedSessions, settings, urgencyOf } from "./settings";
import { chime } from "./sound";

const SETTLE_MS = 1_000;

/** What a screen reader hears, politely. Every one counts anew: the same words may be news again. */
export const announcement = signal({ count: 0, text: "" });
/** More sentences than this at once nobody listens to; the rest is a number. */
const ANNOUNCED_MAX = 5;

/** Sessions whose alert settles, with the state it is about and when it is due. */
const settling = new Map<string, { state: string; due: number }>();

export function followAlerts(): void {
  onMoves((moves) => {
    for (const move of moves) {
      const { id, agent_state } = move.after;
      if (agent_state.group !== "needs_you") settling.delete(id);
      else if (entersNeed(move)) settle(id, agent_state.state);
    }
    // Timers of a hidden page are held back for up to a minute; changes still arrive, so they look at the clock too.
    tellDue();
  });
}

function settle(id: string, state: string): void {
  settling.set(id, { state, due: Date.now() + SETTLE_MS });
  setTimeout(tellDue, SETTLE_MS + 10);
}

function tellDue(): void {
  const told: Session[] = [];
  for (const [id, { state, due }] of settling) {
    if (due > Date.now()) continue;
    settling.delete(id);
    const session = sessionSignal(id)?.peek();
    if (session?.agent_state.state === state) told.push(session);
  }
  if (told.length === 0) return;
  announce(told);
  for (const session of told) tell(session);
}

function announce(told: Session[]): void {
  const sentences = told.slice(0, ANNOUNCED_MAX).map((s) => `${s.project.name} needs you: ${s.agent_state.label}.`);
  if (told.length > ANNOUNCED_MAX) sentences.push(`And ${told.length - ANNOUNCED_MAX} more.`);
  announcement.value = { count: announcement.peek().count + 1, text: sentences.join(" ") };
}

function tell(session: Session): void {
  const chosen = settings.peek();
  const loudness = chosen[urgencyOf(session.agent_state.role)];
  const muted = mutedSessions.peek().includes(session.id) || mutedProjects.peek().includes(session.project.name);
  if (!chosen.on || loudness === "off" || muted || isQuiet(chosen, clockTime(Date.now())) || inFrontOfThePerson(session.id)) return;
  notify(session);
  if (loudness === "sound") chime();
}

function inFrontOfThePerson(id: string): boolean {
  if (document.hidden || !document.hasFocus()) return false;
  if (openId.peek() === id) return true;
  const card = cardElement(id);
  if (!card) return false;
  // What lies at its middle: a drawer, a dialog or the header may cover it.
  const { left, top, width, height } = card.getBoundingClientRect();
  return document.elementFromPoint(left + width / 2, top + height / 2)?.closest("[data-card]") === card;
}

/** `renotify`: a second need of the same session takes the note's place, and is told all the same. */
type NoteOptions = NotificationOptions & { renotify: boolean };

function notify(session: Session): void {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  const options: NoteOptions = {
    body: [session.title, [session.project.name, session.git_branch].filter(Boolean).join(" · ")].filter(Boolean).join("\n"),
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
    // Chrome on Android has the name but allows notes to service workers only; sound and title still tell.
  }
}

/** Asks the browser; true if notes may be shown. */
export async function askPermission(): Promise<boolean> {
  if (!("Notification" in window)) return false;
  return (await Notification.requestPermission()) === "granted";
}
