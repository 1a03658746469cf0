import type { SpoolStatus } from "./SpoolStatus";

export type HookStatus = {
  registered: Array<string>;
  missing: Array<string>;
  stale: Array<string>;
  wanted: boolean;
  via: string | null;
  drift: boolean;
  problem: string | null;
  fix: string | null;
  last_event_at: string | null;
  events_total: number;
  by_event: Record<string, number>;
  spool: SpoolStatus;
};
