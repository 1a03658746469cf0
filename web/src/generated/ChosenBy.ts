// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Why a session was given its seat.
 */
export type ChosenBy = "memory" | "store" | "explicit_id" | "pane" | "pid" | "directory" | "new";
