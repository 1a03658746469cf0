// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { QuestionOption } from "./QuestionOption";

export type Question = {
  question: string;
  header: string | null;
  options: Array<QuestionOption>;
  multiSelect: boolean;
};
