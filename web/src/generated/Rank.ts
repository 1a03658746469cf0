// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Three texts by which viewers sort the cards of a group, in ascending order. Their format is not part of the interface. `default` puts
 * warm caches first, `urgency` the most urgent session, `waiting` the session that blocks or asks for the longest time.
 */
export type Rank = { default: string; urgency: string; waiting: string };
