// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Why the work cannot continue without the person.
 */
export type AwaitReason = "permission" | "question" | "elicitation" | "plan" | "asked" | "failed" | "interrupted" | "stopped_by_hook";
