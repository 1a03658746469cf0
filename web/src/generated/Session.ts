// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { AgentState } from "./AgentState";
import type { Ask } from "./Ask";
import type { Background } from "./Background";
import type { Cache } from "./Cache";
import type { Context } from "./Context";
import type { Cost } from "./Cost";
import type { Failure } from "./Failure";
import type { FleetStatus } from "./FleetStatus";
import type { ProgressItem } from "./ProgressItem";
import type { Project } from "./Project";
import type { Rank } from "./Rank";
import type { Seat } from "./Seat";
import type { Status } from "./Status";
import type { SubAgent } from "./SubAgent";
import type { TerminalInput } from "./TerminalInput";
import type { Tokens } from "./Tokens";

/**
 * One session as viewers see it. Fields may be added; these names stay.
 */
export type Session = {
  id: string;
  continues: string | null;
  replaced_by: string | null;
  ended_at: string | null;
  end_reason: string | null;
  seat: Seat;
  project: Project;
  git_branch: string | null;
  transcript_path: string | null;
  title: string | null;
  last_user_message: string | null;
  model: string | null;
  permission_mode: string | null;
  agent_state: AgentState;
  status: Status;
  takes: TerminalInput | null;
  fleet_status: FleetStatus;
  rank: Rank;
  quiet_since: string | null;
  stale: boolean;
  seen: boolean;
  current_activity: string | null;
  started_at: string;
  last_activity_at: string;
  turn_count: number;
  current_turn_started_at: string | null;
  last_turn_task_seconds: number | null;
  tokens: Tokens | null;
  cost: Cost | null;
  context: Context | null;
  cache: Cache;
  sub_agents: Array<SubAgent>;
  progress_items: Array<ProgressItem>;
  background: Background;
  queued_prompts: number;
  last_failure: Failure | null;
  files_touched: Array<string>;
  files_touched_total: number;
  lines_added: number;
  lines_removed: number;
  compactions: number;
  last_assistant_text: string | null;
  asks: Array<Ask>;
  assignment: { id: number; state: string; title: string | null } | null;
  effort: Record<string, unknown> | null;
};
