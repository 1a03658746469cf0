// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Why a window ended.
 */
export type WindowEnd = "session_ended" | "compacted" | "dehydrated" | "finished" | "replaced" | "subagent_stopped" | "effort_finished";
