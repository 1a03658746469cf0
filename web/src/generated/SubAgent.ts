export type SubAgent = {
  id: string;
  type: string;
  state: "working" | "blocked" | "done";
  label: string | null;
  started_at: string | null;
  ended_at: string | null;
};
