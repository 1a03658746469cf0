// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Kinds of waiting, most urgent first. A session that blocks or asks is counted as a need; the others are not.
 */
export type WaitKind = "blocks" | "asks" | "failed" | "interrupted" | "idle";
