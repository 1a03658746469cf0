// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Presses Esc in the session's pane, or ends the client.
 */
export type Interrupt = { session_id: string; confirm: boolean; stop: boolean };
