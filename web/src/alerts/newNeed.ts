import type { SessionChange } from "../live/store";

/**
 * True if this change made the session need the person: it moved to Needs You, or it was there and is blocked by
 * something else now. Sessions that are new, first seen in a snapshot or without a turn never count.
 */
export function isNewNeed({ before, after, discovered }: SessionChange): boolean {
  if (discovered || before === null || after.turn_count === 0) return false;
  if (after.agent_state.group !== "needs_you") return false;
  if (before.agent_state.group !== "needs_you") return true;
  const blockedNow = after.status.kind === "attention_needed";
  return blockedNow && before.agent_state.state !== after.agent_state.state;
}
