// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { RateLimit } from "./RateLimit";

/**
 * How much of the person's subscription is used up. The limits are the same for all sessions of the person, so the fleet keeps the newest
 * ones.
 */
export type RateLimits = { five_hour: RateLimit | null; seven_day: RateLimit | null };
