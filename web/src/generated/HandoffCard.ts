// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type HandoffCard = { from: string; at: string; payload: string; to: string | null };
