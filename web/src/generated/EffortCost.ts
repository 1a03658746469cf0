// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type EffortCost = { usd_micros: number; unpriced_models: Array<string> };
