//! From the colour role on the wire to the card's look. A role never works alone: tile, rail and words say it too.
import type { Role } from "../generated/Role";

/** blocked: filled tile, solid rail. asking: hollow tile, broken rail. idle: plain tile. running: bare glyph. ended: a row. */
export type Look = "blocked" | "asking" | "failed" | "idle" | "running" | "ended";

const LOOKS: Record<Role, Look> = {
  urgent: "blocked", orange: "asking", red: "failed", calm: "idle", working: "running", muted: "ended",
};

/** A role that a newer daemon made up looks calm. */
export const lookOf = (role: Role): Look => LOOKS[role] ?? "idle";
