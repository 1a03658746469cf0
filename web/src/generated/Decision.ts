// Generated from flightdeck-core by `cargo xtask gen`. Do not edit.
export type Decision = "allow" | "deny" | "cancel";
