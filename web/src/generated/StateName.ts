// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type StateName = "needs_permission" | "awaiting_input" | "interrupted" | "error" | "awaiting_approval" | "idle" | "thinking" | "acting" | "delegating" | "compacting" | "waiting_background" | "session_ended";
