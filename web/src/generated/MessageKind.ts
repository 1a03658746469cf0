// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type MessageKind = "text" | "tool" | "failure" | "notice";
