// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { RateLimit } from "./RateLimit";

/**
 * How much of the person's subscription is used up. The same for all their sessions, so the fleet keeps the newest.
 */
export type RateLimits = { five_hour: RateLimit | null; seven_day: RateLimit | null };
