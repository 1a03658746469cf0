// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type ProgressItem = { id: string; title: string; status: string };
