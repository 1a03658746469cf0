// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * What still runs after a turn has ended.
 */
export type Background = { agents: number; shells: number; shells_min: number };
