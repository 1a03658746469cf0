// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { AssignmentCost } from "./AssignmentCost";
import type { AssignmentState } from "./AssignmentState";
import type { AwaitReason } from "./AwaitReason";
import type { Completion } from "./Completion";
import type { DetectedIntent } from "./DetectedIntent";
import type { Project } from "./Project";

/**
 * What a person asked of a session, and how far it is. Fields may be added; these names stay.
 */
export type Assignment = {
  id: string;
  session_id: string;
  seat: string | null;
  host: string | null;
  project: Project;
  state: AssignmentState;
  reason: AwaitReason | null;
  outcome: Completion | null;
  inferred: boolean;
  title: string;
  opened_at: string;
  completed_at: string | null;
  since: string;
  turns: number;
  working_seconds: number;
  waiting_seconds: number;
  cost: AssignmentCost | null;
  last_intent: DetectedIntent | null;
  last_message: string | null;
};
