// Generated from flightdeck-core by `cargo xtask gen`. Do not edit.
export type QuestionOption = { label: string; description: string | null };
