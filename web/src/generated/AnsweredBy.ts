// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Who answered.
 */
export type AnsweredBy = "web" | "cli" | "tui" | "api" | "policy" | "terminal";
