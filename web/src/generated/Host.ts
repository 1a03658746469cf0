// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { HostKind } from "./HostKind";

/**
 * One host.
 */
export type Host = {
  name: string;
  this: boolean;
  hub: boolean;
  kind: HostKind;
  version: string | null;
  last_seen: string | null;
  unreachable_since: string | null;
  left: boolean;
  backlog: number;
  caught_up_percent: number | null;
  sessions: number;
  needs_you: number;
  clock_ahead_seconds: number | null;
  clock_differs: boolean;
  shares_payloads: boolean;
  accepts: Array<string>;
  refused: number;
  refused_because: string | null;
};
