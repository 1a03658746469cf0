// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Source } from "./Source";

export type TimelineEvent = {
  seq: number;
  id: string;
  fired_at: string;
  received_at: string;
  source: Source;
  name: string;
  agent_id: string | null;
  by_person: boolean;
  summary: string;
  payload?: Record<string, unknown>;
};
