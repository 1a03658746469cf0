// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Who acts on an assignment.
 */
export type Actor = "user" | "agent";
