// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Question } from "./Question";
import type { Resolution } from "./Resolution";

/**
 * An ask as it is sent to viewers.
 */
export type Ask = {
  id: string;
  session_id: string;
  agent_id: string | null;
  kind: "permission" | "question" | "plan" | "elicitation";
  tool_name: string | null;
  tool_input: Record<string, unknown> | null;
  questions: Array<Question> | null;
  suggestions: Array<Record<string, unknown>>;
  caution: string | null;
  message: string | null;
  requested_schema: Record<string, unknown> | null;
  url: string | null;
  mcp_server_name: string | null;
  opened_at: string;
  expires_at: string | null;
  answerable: boolean;
  resolution: Resolution | null;
};
