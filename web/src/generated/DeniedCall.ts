// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type DeniedCall = { at: string; session_id: string; call: string; rule: string };
