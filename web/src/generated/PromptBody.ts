// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { PromptAs } from "./PromptAs";
import type { PromptDraft } from "./PromptDraft";

/**
 * The body of `POST /api/sessions/{id}/prompt`, as the page sends it.
 */
export type PromptBody = { text: string; as?: PromptAs; draft?: PromptDraft };
