// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * What a person may type into the terminal of a session, as its state goes.
 */
export type Takes = "prompt" | "interrupt";
