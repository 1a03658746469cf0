// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Ranks error > attention > working > checked > done.
 */
export type FleetStatus = "error" | "attention" | "working" | "checked" | "done";
