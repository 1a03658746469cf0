export type TimelineEvent = {
  seq: number;
  id: string;
  fired_at: string | null;
  received_at: string;
  source: string;
  name: string;
  agent_id: string | null;
  summary: string | null;
  payload?: unknown;
};
