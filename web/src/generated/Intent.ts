// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * The purpose of one message of an assignment.
 */
export type Intent = "command" | "answer" | "question" | "completion" | "end_of_task" | "progress";
