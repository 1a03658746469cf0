// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * The person opened the card.
 */
export type MarkSeen = { session_id: string };
