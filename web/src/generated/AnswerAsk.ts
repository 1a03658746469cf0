// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { AnsweredBy } from "./AnsweredBy";
import type { Decision } from "./Decision";
import type { OneOrMany } from "./OneOrMany";

/**
 * Answers an ask. The first answer wins. Over HTTP the body is the answer itself.
 */
export type AnswerAsk = {
  decision: Decision;
  message?: string;
  interrupt?: boolean;
  updated_permissions?: Array<Record<string, unknown>>;
  answers?: { [key in string]: OneOrMany };
  content?: Record<string, unknown>;
  mode?: string;
  via?: AnsweredBy;
};
