// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Whether the prompt cache is warm. In the order of the board: sessions that can still be answered cheaply come first.
 */
export type CacheStatus = "warm" | "unknown" | "cold";
