// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { ConversationMessage } from "./ConversationMessage";

/**
 * A part of a conversation, oldest message first.
 */
export type ConversationPage = {
  messages: Array<ConversationMessage>;
  next_before: number | null;
  missing: string | null;
};
