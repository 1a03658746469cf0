// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { RuleDecision } from "./RuleDecision";

/**
 * A rule as a person writes it into config.toml.
 */
export type RuleDraft = {
  tool: string;
  match: string | null;
  project: string | null;
  decision: RuleDecision;
  message: string | null;
};
