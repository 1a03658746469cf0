// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { PromptAs } from "./PromptAs";
import type { PromptDraft } from "./PromptDraft";

/**
 * Types the next prompt into the session's tmux pane.
 */
export type SendPrompt = { session_id: string; text: string; as?: PromptAs; draft?: PromptDraft };
