// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { SuggestedRule } from "./SuggestedRule";

/**
 * Narrowest first; empty for a question, a plan and a form, which only a person answers.
 */
export type RuleSuggestions = { enabled: boolean; rules: Array<SuggestedRule> };
