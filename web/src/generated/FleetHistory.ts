export type FleetSpan = {
  from: string;
  to: string | null;
  group: "needs_you" | "running" | "done";
  state: string;
  label: string;
  role?: string;
};

export type FleetHistoryRow = { id: string; title: string | null; project: string; spans: Array<FleetSpan> };

export type FleetHistory = { sessions: Array<FleetHistoryRow> };
