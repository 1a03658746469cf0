// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type AssignmentState = "idle" | "commanded" | "processing" | "awaiting_input" | "complete";
