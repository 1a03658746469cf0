// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type Group = "needs_you" | "running" | "done";
