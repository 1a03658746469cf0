export type ModelCost = { model: string; usd_micros: number };
