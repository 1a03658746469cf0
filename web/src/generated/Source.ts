// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Who told us.
 */
export type Source = "transcript" | "registry" | "process" | "user" | "hook";
