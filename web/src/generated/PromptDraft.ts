// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * What to do with a draft that is in the box already.
 */
export type PromptDraft = "keep" | "replace";
