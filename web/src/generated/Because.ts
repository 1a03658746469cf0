// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type Because = { seq: number; name: string | null; rule: string; payload: Record<string, unknown> | null };
