// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Where the record comes from.
 */
export type Source = "transcript" | "registry" | "process" | "user" | "hook";
