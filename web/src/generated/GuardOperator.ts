// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type GuardOperator = "eq" | "ne" | "contains" | "glob" | "regex" | "gt" | "lt" | "in" | "exists";
