export type Status = {
  kind: "idle" | "working" | "attention_needed" | "ended";
  detail: string | null;
  reason: string | null;
};
