// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type GuardAction = "allow" | "warn" | "deny" | "inject";
