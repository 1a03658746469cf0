/**
 * Collects stream messages and applies them to the store at most once per animation frame; for a large fleet
 * once per several frames.
 */
import type { Ask } from "../generated/Ask";
import type { Assignment } from "../generated/Assignment";
import type { Effort } from "../generated/Effort";
import type { Session } from "../generated/Session";
import type { Snapshot } from "../generated/Snapshot";
import type { SseMessage } from "./sse";
import { applyChanges, isLarge, type StoreChange } from "./store";

let waiting: StoreChange[] = [];
let scheduled = false;
let lastFlush = 0;

const LARGE_FLUSH_MS = 80;

export function enqueueMessages(messages: SseMessage[]): void {
  for (const message of messages) {
    const change = changeFrom(message);
    if (change) waiting.push(change);
  }
  if (waiting.length === 0) return;
  // A hidden page gets no animation frames and few timers, but its title and alerts must stay current.
  if (document.hidden) flush();
  else if (!scheduled) {
    scheduled = true;
    const wait = isLarge() ? lastFlush + LARGE_FLUSH_MS - performance.now() : 0;
    if (wait > 0) setTimeout(() => requestAnimationFrame(flush), wait);
    else requestAnimationFrame(flush);
  }
}

function flush(): void {
  scheduled = false;
  lastFlush = performance.now();
  if (waiting.length === 0) return;
  const changes = latestOnly(waiting);
  waiting = [];
  applyChanges(changes);
}

/**
 * Keeps only the last message per session, except where the session changed its column: alerts need that
 * change.
 */
export function latestOnly(changes: StoreChange[]): StoreChange[] {
  const last = new Map<string, number>();
  const kept: (StoreChange | null)[] = [];
  for (const change of changes) {
    if (change.kind === "snapshot") last.clear();
    if (change.kind === "ask") last.delete(change.ask.session_id);
    if (change.kind === "removed") last.delete(change.id);
    if (change.kind === "session") {
      const { id, agent_state } = change.session;
      const at = last.get(id);
      const earlier = at === undefined ? null : kept[at];
      if (
        at !== undefined &&
        earlier?.kind === "session" &&
        !earlier.discovered &&
        earlier.session.agent_state.group === agent_state.group
      ) {
        kept[at] = null;
      }
      last.set(id, kept.length);
    }
    kept.push(change);
  }
  return kept.filter((change) => change !== null);
}

/** Unknown events, and events that cannot be parsed, are ignored. */
export function changeFrom(message: SseMessage): StoreChange | null {
  try {
    switch (message.event) {
      case "snapshot":
        return { kind: "snapshot", snapshot: JSON.parse(message.data) as Snapshot };
      case "session_discovered":
        return {
          kind: "session",
          session: (JSON.parse(message.data) as { session: Session }).session,
          discovered: true,
        };
      case "session_updated":
      case "session_completed":
        return {
          kind: "session",
          session: (JSON.parse(message.data) as { session: Session }).session,
          discovered: false,
        };
      case "session_removed":
        return { kind: "removed", id: (JSON.parse(message.data) as { id: string }).id };
      case "ask_opened":
      case "ask_closed":
        return { kind: "ask", ask: (JSON.parse(message.data) as { ask: Ask }).ask };
      case "assignment_updated":
        return {
          kind: "assignment",
          assignment: (JSON.parse(message.data) as { assignment: Assignment }).assignment,
        };
      case "effort_updated":
        return { kind: "effort", effort: (JSON.parse(message.data) as { effort: Effort }).effort };
      default:
        return null;
    }
  } catch (error) {
    console.error(`cannot read a ${message.event} event`, error);
    return null;
  }
}
