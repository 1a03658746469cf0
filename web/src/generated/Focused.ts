// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * A session's terminal is in front.
 */
export type Focused = { client: string | null; message: string };
