// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { PolicyRow } from "./PolicyRow";

/**
 * What the rules would have answered so far.
 */
export type PolicyReport = {
  enabled: boolean;
  asks: number;
  answered: number;
  allowed: number;
  denied: number;
  by_rule: Array<PolicyRow>;
  left: Array<PolicyRow>;
};
