// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * The reply to a page that reported which sessions it shows.
 */
export type VisibilityNoted = { wanted: boolean };
