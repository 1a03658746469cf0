// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * The effort that a session works on, on its card.
 */
export type EffortBrief = {
  id: string;
  skill: string;
  ordinal: number;
  phase: string | null;
  heartbeat: number;
  heartbeat_limit: number;
  held: boolean;
  window: number;
};
