export type TimelineEvent = {
  seq: number;
  id: string;
  fired_at: string | null;
  received_at: string;
  source: string;
  name: string;
  agent_id: string | null;
  by_person: boolean;
  summary: string | null;
  payload?: unknown;
};
