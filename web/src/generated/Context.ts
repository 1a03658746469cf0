export type Context = { tokens: number; window: number; percent: number };
