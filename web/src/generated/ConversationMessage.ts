// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { MessageKind } from "./MessageKind";
import type { Speaker } from "./Speaker";

export type ConversationMessage = {
  id: string;
  at: string | null;
  role: Speaker;
  kind: MessageKind;
  text: string;
  tool_name: string | null;
};
