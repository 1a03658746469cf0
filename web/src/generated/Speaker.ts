// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type Speaker = "user" | "assistant";
