// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Reports whether the person can see a page, and which sessions the page shows.
 */
export type ReportVisibility = { viewer: string; visible: boolean; sessions: Array<string> | null };
