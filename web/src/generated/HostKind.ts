// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type HostKind = "laptop" | "container" | "server";
