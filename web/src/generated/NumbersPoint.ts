// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * As it stood after one message.
 */
export type NumbersPoint = { at: string; context_tokens: number | null; usd_micros: number | null };
