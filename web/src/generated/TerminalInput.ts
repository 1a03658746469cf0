// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * What a person may type into the terminal of a session in its present state.
 */
export type TerminalInput = "prompt" | "interrupt";
