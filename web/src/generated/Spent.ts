// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Tokens } from "./Tokens";

/**
 * Tokens and money of a group.
 */
export type Spent = { messages: number; tokens: Tokens; usd_micros: number; unpriced_models: Array<string> };
