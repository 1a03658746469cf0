// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * A page says whether the person can see it, and which sessions it shows.
 */
export type ReportVisibility = { viewer: string; visible: boolean; sessions: Array<string> | null };
