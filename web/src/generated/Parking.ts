// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * A session that the person put aside.
 */
export type Parking = { since: string; until: string | null };
