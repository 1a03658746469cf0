// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * The name of a change, as it stands in the frame.
 */
export type ChangeName = "snapshot" | "session_discovered" | "session_updated" | "session_completed" | "session_removed" | "ask_opened" | "ask_closed" | "assignment_updated" | "effort_updated" | "gap";
