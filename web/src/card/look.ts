//! From the colour role on the wire to the card's look. A role never works alone: tile, rail and words say it too.

/** blocked: filled tile, solid rail. asking: hollow tile, broken rail. idle: plain tile. running: bare glyph. ended: a row. */
export type Look = "blocked" | "asking" | "failed" | "idle" | "running" | "ended";

const LOOKS: Record<string, Look> = {
  urgent: "blocked", orange: "asking", red: "failed", calm: "idle", working: "running", muted: "ended",
};

export const lookOf = (role: string | undefined): Look => LOOKS[role ?? ""] ?? "idle";

/** History spans and steps may come without a role; then the state's usual one is drawn (STATES, lenses). */
const USUAL_ROLE: Record<string, string> = {
  needs_permission: "urgent", awaiting_input: "urgent", awaiting_approval: "urgent", interrupted: "orange", error: "red",
  idle: "calm", thinking: "working", acting: "working", delegating: "working", compacting: "working",
  waiting_background: "working", session_ended: "muted",
};

export const lookOfState = (state: string, role?: string): Look => lookOf(role ?? USUAL_ROLE[state]);
