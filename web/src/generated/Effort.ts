// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { DenialCount } from "./DenialCount";
import type { EffortCost } from "./EffortCost";
import type { EffortMessage } from "./EffortMessage";
import type { GuardRule } from "./GuardRule";
import type { HandoffCard } from "./HandoffCard";
import type { Lifecycle } from "./Lifecycle";
import type { LogEntry } from "./LogEntry";
import type { Phase } from "./Phase";
import type { PhaseStep } from "./PhaseStep";
import type { Project } from "./Project";
import type { WindowCard } from "./WindowCard";

/**
 * One run of a skill that outlives context windows. Fields may be added; these names stay.
 */
export type Effort = {
  id: string;
  workstream: string;
  project: Project;
  title: string;
  skill: string;
  mode: string | null;
  ordinal: number;
  lifecycle: Lifecycle;
  phase: string | null;
  phases: Array<Phase>;
  planned_phases: Array<string>;
  line: Array<PhaseStep>;
  heartbeat: number;
  heartbeat_limit: number;
  held: boolean;
  seat: string | null;
  windows: Array<WindowCard>;
  windows_dropped: number;
  guards: Array<GuardRule>;
  denials: Array<DenialCount>;
  pending_injections: number;
  log: Array<LogEntry>;
  log_entries: number;
  timeline: Array<EffortMessage>;
  handoff: HandoffCard | null;
  artifacts: string;
  cost: EffortCost | null;
  metadata: Record<string, unknown>;
  started_at: string;
  finished_at: string | null;
};
