// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Actor } from "./Actor";
import type { Evidence } from "./Evidence";
import type { Intent } from "./Intent";

/**
 * One message of the person or of the agent.
 */
export type AssignmentMessage = {
  seq: number;
  actor: Actor;
  intent: Intent;
  confidence: number;
  evidence: Evidence | null;
  text: string;
  at: string;
};
