// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { RateLimits } from "./RateLimits";

export type FleetOverview = {
  rate_limits: RateLimits | null;
  sessions: number;
  blocks_or_asks: number;
  needs_you: number;
  running: number;
  done: number;
};
