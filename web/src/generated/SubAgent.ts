// Generated from flightdeck-core by `cargo xtask gen`. Do not edit.
import type { SubAgentState } from "./SubAgentState";

export type SubAgent = {
  id: string;
  type: string;
  state: SubAgentState;
  label: string;
  started_at: string;
  ended_at: string | null;
};
