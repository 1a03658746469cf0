// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Answers an ask with the key of a button. The key names the ask and the decision, and works once.
 */
export type AnswerByKey = { key: string };
