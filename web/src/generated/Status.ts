// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { StatusKind } from "./StatusKind";

/**
 * The three-state view of an agent: whether it works or needs the person, with the current work and the reason for waiting.
 */
export type Status = { kind: StatusKind; detail: string | null; reason: string | null };
