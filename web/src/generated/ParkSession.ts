// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * The person puts an idle session aside, or takes it back.
 */
export type ParkSession = { session_id: string; until?: string; parked: boolean };
