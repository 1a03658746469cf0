// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Ask } from "./Ask";
import type { Assignment } from "./Assignment";
import type { Effort } from "./Effort";
import type { Session } from "./Session";
import type { Snapshot } from "./Snapshot";

/**
 * One change of the board.
 */
export type Change = Snapshot | { session: Session } | { session: Session } | { session: Session } | { id: string } | { ask: Ask } | { ask: Ask } | { assignment: Assignment } | { effort: Effort } | Record<symbol, never> | { event: string };
