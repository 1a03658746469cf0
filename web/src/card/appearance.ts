/**
 * Maps why a session waits, or its colour role, to the appearance of a card. Icon tile, edge and words show it
 * too, not only the colour.
 */
import type { Role } from "../generated/Role";
import type { Session } from "../generated/Session";
import type { WaitKind } from "../generated/WaitKind";

/**
 * blocked: filled tile, solid edge. asking: hollow tile, dashed edge. stopped and idle: plain tile. running:
 * icon without tile. ended: a row.
 */
export type Appearance = "blocked" | "asking" | "failed" | "stopped" | "idle" | "running" | "ended";

const WAITING: Record<WaitKind, Appearance> = {
  blocks: "blocked",
  asks: "asking",
  failed: "failed",
  interrupted: "stopped",
  idle: "idle",
};

const ROLES: Record<Role, Appearance> = {
  urgent: "blocked",
  orange: "asking",
  red: "failed",
  calm: "idle",
  working: "running",
  muted: "ended",
};

/** For spans of the past, where only the role is known. A role that this page does not know is drawn as idle. */
export const roleAppearance = (role: Role): Appearance => ROLES[role] ?? "idle";

export const appearanceOf = ({ waiting, agent_state: { role } }: Session): Appearance =>
  waiting ? WAITING[waiting.kind] : roleAppearance(role);
