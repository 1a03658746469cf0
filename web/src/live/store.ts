/** The sessions the page knows: one signal per session, so that a change redraws one card. */
import { batch, type Signal, signal } from "@preact/signals";
import type { Ask } from "../generated/Ask";
import type { Assignment } from "../generated/Assignment";
import type { Effort } from "../generated/Effort";
import type { Session } from "../generated/Session";
import type { Snapshot } from "../generated/Snapshot";

export type StoreChange =
  | { kind: "snapshot"; snapshot: Snapshot }
  | { kind: "session"; session: Session; discovered: boolean }
  | { kind: "removed"; id: string }
  | { kind: "ask"; ask: Ask }
  | { kind: "assignment"; assignment: Assignment }
  | { kind: "effort"; effort: Effort };

/** `before` is null for a session that the page did not know, such as all of the first snapshot. */
export type SessionChange = { before: Session | null; after: Session; discovered: boolean };

const sessions = new Map<string, Signal<Session>>();
/** Increases with every update; the layout depends on it. */
export const revision = signal(0);
export const loaded = signal(false);
export const boot = signal<string | null>(null);

export const allSessions = (): Iterable<Signal<Session>> => sessions.values();
/**
 * Above this number a fleet is large: only cards near the visible area are drawn, and updates are less
 * frequent.
 */
export const LARGE_FLEET = 200;
export const isLarge = (): boolean => sessions.size > LARGE_FLEET;
export const sessionSignal = (id: string): Signal<Session> | undefined => sessions.get(id);

const watchers = new Set<(sessionChanges: SessionChange[]) => void>();
export function onSessionChanges(watch: (sessionChanges: SessionChange[]) => void): () => void {
  watchers.add(watch);
  return () => watchers.delete(watch);
}

const assignmentWatchers = new Set<(changed: Assignment[]) => void>();
/** Assignments are not kept here; the views that show them listen while they are open. */
export function onAssignmentChanges(watch: (changed: Assignment[]) => void): () => void {
  assignmentWatchers.add(watch);
  return () => assignmentWatchers.delete(watch);
}

const effortWatchers = new Set<(changed: Effort[]) => void>();
/** Efforts are not kept here either. */
export function onEffortChanges(watch: (changed: Effort[]) => void): () => void {
  effortWatchers.add(watch);
  return () => effortWatchers.delete(watch);
}

/** Applies all changes of one animation frame as one update. */
export function applyChanges(changes: StoreChange[]): void {
  const sessionChanges: SessionChange[] = [];
  const assignments: Assignment[] = [];
  const efforts: Effort[] = [];
  batch(() => {
    for (const change of changes) {
      if (change.kind === "snapshot") replaceAll(change.snapshot, sessionChanges);
      else if (change.kind === "session") putSession(change.session, change.discovered, sessionChanges);
      else if (change.kind === "removed") sessions.delete(change.id);
      else if (change.kind === "ask") putAsk(change.ask, sessionChanges);
      else if (change.kind === "effort") efforts.push(change.effort);
      else assignments.push(change.assignment);
    }
    revision.value++;
  });
  if (sessionChanges.length > 0) for (const watch of watchers) watch(sessionChanges);
  if (assignments.length > 0) for (const watch of assignmentWatchers) watch(assignments);
  if (efforts.length > 0) for (const watch of effortWatchers) watch(efforts);
}

/**
 * A snapshot after a gap or restart also reports changes, because the stream did not send them one by one.
 */
function replaceAll(snapshot: Snapshot, sessionChanges: SessionChange[]): void {
  const kept = new Set(snapshot.sessions.map((s) => s.id));
  for (const id of [...sessions.keys()]) if (!kept.has(id)) sessions.delete(id);
  for (const session of snapshot.sessions) {
    sessionChanges.push({
      before: sessions.get(session.id)?.peek() ?? null,
      after: session,
      discovered: false,
    });
    storeSession(session);
  }
  boot.value = snapshot.boot;
  loaded.value = true;
}

function putSession(session: Session, discovered: boolean, sessionChanges: SessionChange[]): void {
  const before = sessions.get(session.id)?.peek() ?? null;
  // A session that continues another replaces its card.
  if (session.continues) sessions.delete(session.continues);
  if (session.replaced_by) sessions.delete(session.id);
  else storeSession(session);
  sessionChanges.push({ before, after: session, discovered });
}

function putAsk(ask: Ask, sessionChanges: SessionChange[]): void {
  const held = sessions.get(ask.session_id);
  if (!held) return;
  const before = held.peek();
  const others = before.asks.filter((a) => a.id !== ask.id);
  const after = { ...before, asks: [...others, ask] };
  held.value = after;
  sessionChanges.push({ before, after, discovered: false });
}

function storeSession(session: Session): void {
  const held = sessions.get(session.id);
  if (held) held.value = session;
  else sessions.set(session.id, signal(session));
}
