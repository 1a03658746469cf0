// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Tokens } from "./Tokens";

export type UsageRow = {
  key: string;
  name: string;
  project?: string;
  last_at?: string;
  messages: number;
  tokens: Tokens;
  usd_micros: number;
  unpriced_models: Array<string>;
};
