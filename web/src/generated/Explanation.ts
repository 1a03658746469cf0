export type Because = { seq: number | null; name: string | null; rule: string | null; payload?: unknown };

export type HistoryStep = { at: string; from: string | null; to: string; because: Because | string | null };

export type Explanation = {
  state: string;
  since: string;
  because: Because | null;
  history: Array<HistoryStep>;
};
