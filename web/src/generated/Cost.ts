// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { ModelCost } from "./ModelCost";

export type Cost = {
  usd_micros: number;
  client_usd_micros: number | null;
  unpriced_models: Array<string>;
  by_model: Array<ModelCost>;
};
