// Generated from flightdeck-core by `cargo xtask gen`. Do not edit.
import type { PromptAs } from "./PromptAs";
import type { PromptDraft } from "./PromptDraft";

/**
 * `POST /api/sessions/{id}/prompt`.
 */
export type PromptBody = { text: string; as?: PromptAs; draft?: PromptDraft };
