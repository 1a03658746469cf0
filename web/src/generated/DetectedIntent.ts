// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Evidence } from "./Evidence";
import type { Intent } from "./Intent";

/**
 * An intent with the reason for it.
 */
export type DetectedIntent = { intent: Intent; confidence: number; evidence: Evidence };
