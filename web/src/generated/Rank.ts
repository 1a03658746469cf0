// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Opaque, ascending within a group. `default` puts warm caches first, `urgency` what is most urgent, `waiting` what
 * blocks or asks for the longest time.
 */
export type Rank = { default: string; urgency: string; waiting: string };
