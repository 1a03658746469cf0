export type AgentState = {
  group: "needs_you" | "running" | "done";
  state: string;
  label: string;
  icon: string;
  role: string;
  since: string;
  source: string;
};
