// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Cost } from "./Cost";
import type { Status } from "./Status";
import type { SubAgentState } from "./SubAgentState";
import type { Tokens } from "./Tokens";

export type SubAgent = {
  id: string;
  type: string;
  state: SubAgentState;
  label: string;
  status: Status | null;
  parent_session_id: string | null;
  started_at: string;
  ended_at: string | null;
  duration_seconds: number | null;
  description: string | null;
  prompt: string | null;
  tool_use_id: string | null;
  tokens: Tokens | null;
  cost: Cost | null;
};
