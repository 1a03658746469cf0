// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * The reply to a page that said what it shows.
 */
export type VisibilityNoted = { wanted: boolean };
