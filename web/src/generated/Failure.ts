// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type Failure = { tool: string; error: string; at: string };
