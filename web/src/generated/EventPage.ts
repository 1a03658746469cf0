// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { TimelineEvent } from "./TimelineEvent";

/**
 * Oldest first. Where it was read from says how to go on; `null` at the end.
 */
export type EventPage = { events: Array<TimelineEvent>; next_after?: number | null; next_before?: number | null };
