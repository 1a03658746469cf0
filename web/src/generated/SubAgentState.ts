// Generated from flightdeck-core by `cargo xtask gen`. Do not edit.
export type SubAgentState = "working" | "blocked" | "done";
