// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { RuleDraft } from "./RuleDraft";

/**
 * A suggested rule that would match the request.
 */
export type SuggestedRule = { rule: RuleDraft; name: string; would_answer: boolean };
