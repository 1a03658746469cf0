// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type LogEntry = { at: string; text: string };
