// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { WindowEnd } from "./WindowEnd";

export type WindowCard = {
  id: string;
  number: number | null;
  session_id: string;
  agent_id: string | null;
  previous: string | null;
  heartbeat: number;
  context_percent: number | null;
  loaded_files: Array<string>;
  started_at: string;
  ended_at: string | null;
  end: WindowEnd | null;
  handed_over: boolean;
  dehydration_payload: string | null;
};
