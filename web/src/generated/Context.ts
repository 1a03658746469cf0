// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type Context = { tokens: number; window: number | null; percent: number | null };
