// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * In the order of the board: what can still be answered cheaply comes first.
 */
export type CacheStatus = "warm" | "unknown" | "cold";
