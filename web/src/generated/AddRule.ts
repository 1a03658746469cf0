// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { RuleDraft } from "./RuleDraft";

/**
 * Write a rule into config.toml.
 */
export type AddRule = { rule: RuleDraft; enable: boolean };
