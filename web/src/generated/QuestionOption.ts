// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
export type QuestionOption = { label: string; description: string | null };
