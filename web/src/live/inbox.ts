//! Stream messages in, store changes out: at most one update per animation frame, however fast they come; for a large
//! fleet a few frames share one.
import type { Ask } from "../generated/Ask";
import type { Session } from "../generated/Session";
import type { Snapshot } from "../generated/Snapshot";
import type { SseMessage } from "./sse";
import { applyChanges, isLarge, type Change } from "./store";

let waiting: Change[] = [];
let scheduled = false;
let lastFlush = 0;

const LARGE_FLUSH_MS = 80;

export function receive(messages: SseMessage[]): void {
  for (const message of messages) {
    const change = changeFrom(message);
    if (change) waiting.push(change);
  }
  if (waiting.length === 0) return;
  // A hidden page gets no frames and hardly any timers, but its title and its alerts still follow the fleet.
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

/** Within one frame only the last word about a session is drawn, unless it moved between columns (alerts want that). */
export function latestOnly(changes: Change[]): Change[] {
  const last = new Map<string, number>();
  const kept: (Change | null)[] = [];
  for (const change of changes) {
    if (change.kind === "snapshot") last.clear();
    if (change.kind === "ask") last.delete(change.ask.session_id);
    if (change.kind === "removed") last.delete(change.id);
    if (change.kind === "session") {
      const { id, agent_state } = change.session;
      const at = last.get(id);
      const earlier = at === undefined ? null : kept[at];
      if (at !== undefined && earlier?.kind === "session" && !earlier.discovered && earlier.session.agent_state.group === agent_state.group) {
        kept[at] = null;
      }
      last.set(id, kept.length);
    }
    kept.push(change);
  }
  return kept.filter((change) => change !== null);
}

/** An event this page does not know changes nothing; nor does one that does not parse. */
export function changeFrom(message: SseMessage): Change | null {
  try {
    switch (message.event) {
      case "snapshot":
        return { kind: "snapshot", snapshot: JSON.parse(message.data) as Snapshot };
      case "session_discovered":
        return { kind: "session", session: (JSON.parse(message.data) as { session: Session }).session, discovered: true };
      case "session_updated":
      case "session_completed":
        return { kind: "session", session: (JSON.parse(message.data) as { session: Session }).session, discovered: false };
      case "session_removed":
        return { kind: "removed", id: (JSON.parse(message.data) as { id: string }).id };
      case "ask_opened":
      case "ask_closed":
        return { kind: "ask", ask: (JSON.parse(message.data) as { ask: Ask }).ask };
      default:
        return null;
    }
  } catch (error) {
    console.error(`cannot read a ${message.event} event`, error);
    return null;
  }
}
