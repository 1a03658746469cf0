// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * What one message of an assignment wants.
 */
export type Intent = "command" | "answer" | "question" | "completion" | "end_of_task" | "progress";
