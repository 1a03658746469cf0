// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * Why a message was given its intent.
 */
export type IntentRule = "asks_the_person" | "question_form" | "requests_input" | "blocked" | "offer_after_completion" | "says_done" | "changed_files" | "opens_with_done" | "soft_close" | "direct_answer" | "explains" | "announces_next_step" | "nothing_said";
