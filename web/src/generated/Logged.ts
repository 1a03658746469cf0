// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Where in the log the event is.
 */
export type Logged = { seq: number };
