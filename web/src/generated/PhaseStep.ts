// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { PhaseStanding } from "./PhaseStanding";

/**
 * A phase on the line.
 */
export type PhaseStep = {
  name: string;
  standing: PhaseStanding;
  entered_at: string | null;
  left_at: string | null;
  proof: string | null;
};
