// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { RuleDraft } from "./RuleDraft";

/**
 * A rule that a person may make of a request.
 */
export type SuggestedRule = { rule: RuleDraft; name: string; would_answer: boolean };
