// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { AssignmentState } from "./AssignmentState";
import type { AwaitReason } from "./AwaitReason";
import type { Completion } from "./Completion";

/**
 * The newest assignment of a session, on its card. The times grow with `since`, so that an unchanged card stays the same.
 */
export type AssignmentBrief = {
  id: string;
  state: AssignmentState;
  reason: AwaitReason | null;
  outcome: Completion | null;
  title: string;
  since: string;
  waiting_seconds: number;
};
