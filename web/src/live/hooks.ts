//! Are our hooks still in place, and do events arrive? Asked now and then; the stream carries everything else.
import { computed, effect, signal } from "@preact/signals";
import type { HookStatus } from "../generated/HookStatus";
import { time } from "../lib/clock";
import { learnAbilities } from "./able";
import { getHookStatus } from "./api";
import { onMoves, type Move } from "./store";
import { connection } from "./stream";

export const hookStatus = signal<HookStatus | null>(null);

/** When the last event came, in milliseconds; what the stream tells since the daemon was asked counts. */
const told = signal(0);
export const lastEventAt = computed<string | null>(() => {
  const asked = hookStatus.value?.last_event_at;
  const at = Math.max(told.value, asked ? time(asked) : 0);
  return at > 0 ? new Date(at).toISOString() : null;
});
/** The header says it in seconds. */
const TOLD_STEP_MS = 1_000;

function hear(moves: Move[]): void {
  const last = Math.max(...moves.map(({ after }) => time(after.last_activity_at)));
  if (last - told.peek() >= TOLD_STEP_MS) told.value = last;
}

const EVERY_MS = 10_000;

async function look(): Promise<void> {
  try {
    hookStatus.value = await getHookStatus();
  } catch {
    // The connection says so already; an old answer would be a lie.
    hookStatus.value = null;
  }
}

export function followHooks(): void {
  onMoves(hear);
  setInterval(() => !document.hidden && void look(), EVERY_MS);
  effect(() => {
    if (connection.value.kind !== "live") return;
    void look();
    void learnAbilities();
  });
}
