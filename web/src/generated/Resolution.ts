// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { AnsweredBy } from "./AnsweredBy";
import type { AskOutcome } from "./AskOutcome";

export type Resolution = {
  how: AskOutcome;
  by: AnsweredBy | null;
  at: string;
  rule: string | null;
  message: string | null;
};
