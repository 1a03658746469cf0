import type { Move } from "../live/store";

/** Did this change bring the session to the person? Something fresh, or first seen in a snapshot, never does. */
export function entersNeed({ before, after, discovered }: Move): boolean {
  if (discovered || before === null || after.turn_count === 0) return false;
  if (after.agent_state.group !== "needs_you") return false;
  if (before.agent_state.group !== "needs_you") return true;
  const blockedNow = after.status.kind === "attention_needed";
  return blockedNow && before.agent_state.state !== after.agent_state.state;
}
