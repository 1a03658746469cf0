// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Brings the session's terminal to the front.
 */
export type Focus = { session_id: string };
