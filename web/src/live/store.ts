//! The fleet as the page knows it: one signal per session, so that one change redraws one card.
import { batch, signal, type Signal } from "@preact/signals";
import type { Ask } from "../generated/Ask";
import type { Session } from "../generated/Session";
import type { Snapshot } from "../generated/Snapshot";

export type Change =
  | { kind: "snapshot"; snapshot: Snapshot }
  | { kind: "session"; session: Session; discovered: boolean }
  | { kind: "removed"; id: string }
  | { kind: "ask"; ask: Ask };

/** `before` is null for a session the page did not know, as every one is in the first snapshot. */
export type Move = { before: Session | null; after: Session; discovered: boolean };

const sessions = new Map<string, Signal<Session>>();
/** Goes up when the set or the order of sessions may have changed; the layout follows it. */
export const revision = signal(0);
export const loaded = signal(false);
export const boot = signal<string | null>(null);

export const allSessions = (): Iterable<Signal<Session>> => sessions.values();
/** Above this a fleet is large: it is drawn near the view only, and less often, so that the page stays smooth. */
export const LARGE_FLEET = 200;
export const isLarge = (): boolean => sessions.size > LARGE_FLEET;
export const sessionSignal = (id: string): Signal<Session> | undefined => sessions.get(id);

const watchers = new Set<(moves: Move[]) => void>();
export function onMoves(watch: (moves: Move[]) => void): () => void {
  watchers.add(watch);
  return () => watchers.delete(watch);
}

/** Applies what one animation frame collected, as one update. */
export function applyChanges(changes: Change[]): void {
  const moves: Move[] = [];
  batch(() => {
    for (const change of changes) {
      if (change.kind === "snapshot") replaceAll(change.snapshot, moves);
      else if (change.kind === "session") put(change.session, change.discovered, moves);
      else if (change.kind === "removed") sessions.delete(change.id);
      else putAsk(change.ask, moves);
    }
    revision.value++;
  });
  if (moves.length > 0) for (const watch of watchers) watch(moves);
}

/** One that follows a gap or a restart is news too: what a session came to meanwhile was never told by itself. */
function replaceAll(snapshot: Snapshot, moves: Move[]): void {
  const kept = new Set(snapshot.sessions.map((s) => s.id));
  for (const id of [...sessions.keys()]) if (!kept.has(id)) sessions.delete(id);
  for (const session of snapshot.sessions) {
    moves.push({ before: sessions.get(session.id)?.peek() ?? null, after: session, discovered: false });
    write(session);
  }
  boot.value = snapshot.boot;
  loaded.value = true;
}

function put(session: Session, discovered: boolean, moves: Move[]): void {
  const before = sessions.get(session.id)?.peek() ?? null;
  // A card that another took the place of has had its last word; nobody stands on the board twice.
  if (session.continues) sessions.delete(session.continues);
  if (session.replaced_by) sessions.delete(session.id);
  else write(session);
  moves.push({ before, after: session, discovered });
}

function putAsk(ask: Ask, moves: Move[]): void {
  const held = sessions.get(ask.session_id);
  if (!held) return;
  const before = held.peek();
  const others = before.asks.filter((a) => a.id !== ask.id);
  const after = { ...before, asks: [...others, ask] };
  held.value = after;
  moves.push({ before, after, discovered: false });
}

function write(session: Session): void {
  const held = sessions.get(session.id);
  if (held) held.value = session;
  else sessions.set(session.id, signal(session));
}
