/**
 * Maps the colour role on the wire to the appearance of a card. Icon tile, edge and words show it too, not
 * only the colour.
 */
import type { Role } from "../generated/Role";

/**
 * blocked: filled tile, solid edge. asking: hollow tile, dashed edge. idle: plain tile. running: icon without
 * tile. ended: a row.
 */
export type Appearance = "blocked" | "asking" | "failed" | "idle" | "running" | "ended";

const APPEARANCES: Record<Role, Appearance> = {
  urgent: "blocked",
  orange: "asking",
  red: "failed",
  calm: "idle",
  working: "running",
  muted: "ended",
};

/** A role that this page does not know is drawn as idle. */
export const appearanceOf = (role: Role): Appearance => APPEARANCES[role] ?? "idle";
