// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * What the person has to do before the work goes on.
 */
export type AwaitReason = "permission" | "question" | "elicitation" | "plan" | "asked" | "failed" | "interrupted";
