// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Answer } from "./Answer";

/**
 * Answers an ask. The first answer wins.
 */
export type AnswerAsk = { ask_id: string; answer: Answer };
