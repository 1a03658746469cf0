// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * The other machine that a session belongs to.
 */
export type Owner = { accepts: Array<string>; shares_payloads: boolean };
