// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type GuardReportRow = { rule: string; then: string; matched: number; decided: number };
