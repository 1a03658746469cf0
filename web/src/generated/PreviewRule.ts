// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { RuleDraft } from "./RuleDraft";

/**
 * What one more rule would have answered so far.
 */
export type PreviewRule = { rule: RuleDraft; since?: string };
