// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type Lifecycle = "active" | "finished";
