// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * How an assignment was completed.
 */
export type Completion = "completed" | "ended" | "died";
