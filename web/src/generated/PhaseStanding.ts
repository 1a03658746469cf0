// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type PhaseStanding = "done" | "now" | "to_come" | "skipped";
