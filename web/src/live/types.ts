//! Answers of the daemon that are put together outside the core, and so are not in `generated/`.
import type { Group } from "../generated/Group";
import type { Role } from "../generated/Role";
import type { Session } from "../generated/Session";
import type { StateName } from "../generated/StateName";

export type Snapshot = { boot: string; n: number; sessions: Session[] };

export type Because = { seq: number; name: string | null; rule: string; payload: unknown };
export type HistoryStep = { at: string; from: StateName; to: StateName; role: Role; because: Because };
export type Explanation = { id: string; state: StateName; group: Group; label: string; since: string; because: Because; history: HistoryStep[] };

export type TimelineEvent = {
  seq: number;
  id: string;
  fired_at: string;
  received_at: string;
  source: string;
  name: string;
  agent_id: string | null;
  by_person: boolean;
  summary: string | null;
  payload?: unknown;
};

/** A session as it stood after one of its messages; what is not known is null. */
export type NumbersPoint = { at: string; context_tokens: number | null; usd_micros: number | null };
export type Numbers = { points: NumbersPoint[] };

export type FleetSpan = { from: string; to: string | null; group: Group; state: StateName; role: Role; label: string };
export type FleetHistoryRow = { id: string; title: string | null; project: string; spans: FleetSpan[] };
export type FleetHistory = { sessions: FleetHistoryRow[] };

export type HookStatus = {
  registered: string[];
  missing: string[];
  stale: string[];
  wanted: boolean;
  via: string | null;
  drift: boolean;
  problem: string | null;
  fix: string | null;
  last_event_at: string | null;
  events_total: number;
  by_event: Record<string, number>;
  spool: { files: number; bytes: number };
};
