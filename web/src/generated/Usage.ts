// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Indexing } from "./Indexing";
import type { RateLimits } from "./RateLimits";
import type { Spent } from "./Spent";
import type { UsageRow } from "./UsageRow";

export type Usage = {
  since: string | null;
  time_zone: string | null;
  prices: string;
  total: Spent;
  today: Spent;
  by_day: Array<UsageRow>;
  by_project: Array<UsageRow>;
  by_model: Array<UsageRow>;
  by_session: Array<UsageRow>;
  sessions_total: number;
  rows?: Array<UsageRow>;
  rate_limits: RateLimits | null;
  indexing?: Indexing;
};
