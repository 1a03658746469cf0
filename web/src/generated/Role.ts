// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * What the colour of a card means; the page picks the colour.
 */
export type Role = "urgent" | "orange" | "red" | "calm" | "working" | "muted";
