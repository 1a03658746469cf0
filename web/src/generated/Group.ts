// Generated from flightdeck-core by `cargo xtask gen`. Do not edit.
export type Group = "needs_you" | "running" | "done";
