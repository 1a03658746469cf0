// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { AssignmentMessage } from "./AssignmentMessage";

export type MessageList = { messages: Array<AssignmentMessage>; dropped: number };
