import type { SpoolStatus } from "./SpoolStatus";

export type HookStatus = {
  registered: Array<string>;
  missing: Array<string>;
  via: string | null;
  drift: boolean;
  last_event_at: string | null;
  events_total: number;
  by_event: Record<string, number>;
  spool: SpoolStatus;
};
