// Generated from flightdeck-core by `cargo xtask gen`. Do not edit.
/**
 * What runs on after a turn has ended.
 */
export type Background = { agents: number; shells: number };
