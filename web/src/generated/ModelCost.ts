// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type ModelCost = { model: string; usd_micros: number };
