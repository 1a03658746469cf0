// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Decision } from "./Decision";

/**
 * Requests with the same result.
 */
export type PolicyRow = { name: string; decision: Decision | null; count: number; examples: Array<string> };
