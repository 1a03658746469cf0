// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * How the person means a text that the client could take for a command.
 */
export type PromptAs = "command" | "text";
