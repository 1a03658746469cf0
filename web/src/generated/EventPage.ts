// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { TimelineEvent } from "./TimelineEvent";

/**
 * Oldest first. `next_after` or `next_before` is the cursor of the next page, depending on the direction; `null` on the last page.
 */
export type EventPage = { events: Array<TimelineEvent>; next_after?: number | null; next_before?: number | null };
