/** Polls whether the hooks are registered and when the last event arrived. */
import { computed, effect, signal } from "@preact/signals";
import type { HookStatus } from "../generated/HookStatus";
import { time } from "../lib/clock";
import { getHookStatus } from "./api";
import { loadCapabilities } from "./capabilities";
import { onSessionChanges, type SessionChange } from "./store";
import { connection } from "./stream";

export const hookStatus = signal<HookStatus | null>(null);

/** Time of the last event seen on the stream, in milliseconds. */
const lastSeenEvent = signal(0);
export const lastEventAt = computed<string | null>(() => {
  const reported = hookStatus.value?.last_event_at;
  const at = Math.max(lastSeenEvent.value, reported ? time(reported) : 0);
  return at > 0 ? new Date(at).toISOString() : null;
});
/** The header shows it in seconds. */
const LAST_EVENT_STEP_MS = 1_000;

function noteLastEvent(changes: SessionChange[]): void {
  const last = Math.max(...changes.map(({ after }) => time(after.last_activity_at)));
  if (last - lastSeenEvent.peek() >= LAST_EVENT_STEP_MS) lastSeenEvent.value = last;
}

const POLL_MS = 10_000;

async function refreshHookStatus(): Promise<void> {
  try {
    hookStatus.value = await getHookStatus();
  } catch {
    // The header shows the lost connection; an old status would be misleading.
    hookStatus.value = null;
  }
}

export function pollHookStatus(): void {
  onSessionChanges(noteLastEvent);
  setInterval(() => !document.hidden && void refreshHookStatus(), POLL_MS);
  effect(() => {
    if (connection.value.kind !== "live") return;
    void refreshHookStatus();
    void loadCapabilities();
  });
}
