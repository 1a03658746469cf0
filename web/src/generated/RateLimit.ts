// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type RateLimit = { percent: number; resets_at: string | null };
