// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { SpoolStatus } from "./SpoolStatus";

/**
 * Whether our hooks are in place, and the events they sent.
 */
export type HookStatus = {
  simulated: boolean;
  program: string;
  last_event_at: string | null;
  events_total: number;
  by_event: Record<string, number>;
  spool: SpoolStatus;
  registered: Array<string>;
  missing: Array<string>;
  stale: Array<string>;
  wanted: boolean;
  via: string | null;
  drift: boolean;
  problem: string | null;
  fix: string | null;
};
