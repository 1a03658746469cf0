// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type DayDigest = { day: string; assignments: number; working_seconds: number; waiting_seconds: number };
