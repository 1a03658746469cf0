// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * A phase that was entered.
 */
export type Phase = { name: string; entered_at: string; proof: string | null };
