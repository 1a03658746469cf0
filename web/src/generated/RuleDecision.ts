// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type RuleDecision = "allow" | "deny";
