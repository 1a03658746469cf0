// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * The mark of a parked session, which the person put aside.
 */
export type Parking = { since: string; until: string | null };
