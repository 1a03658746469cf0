// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Context and cost after one message.
 */
export type NumbersPoint = { at: string; context_tokens: number | null; usd_micros: number | null };
