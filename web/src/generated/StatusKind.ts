// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type StatusKind = "idle" | "working" | "attention_needed" | "ended";
