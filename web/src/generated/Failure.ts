// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * The last tool call that failed.
 */
export type Failure = { tool: string; error: string; at: string };
