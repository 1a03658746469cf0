// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * How often calls were denied. `rule` is `heartbeat` or the id of a guard rule.
 */
export type DenialCount = { rule: string; count: number };
