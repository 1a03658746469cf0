// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * How an ask ended.
 */
export type AskOutcome = "allowed" | "denied" | "denied_and_interrupted" | "answered" | "approved" | "rejected" | "accepted" | "declined" | "cancelled" | "answered_in_terminal" | "refused_in_terminal" | "timed_out" | "session_ended" | "client_died" | "agent_ended" | "closed_while_away" | "answer_in_terminal";
