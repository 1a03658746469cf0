// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * The status of a session for the fleet, the worst first: error, attention, working, checked, done.
 */
export type FleetStatus = "error" | "attention" | "working" | "checked" | "done";
