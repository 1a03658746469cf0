export type Answer = {
  decision: "allow" | "deny" | "cancel";
  message?: string;
  interrupt?: boolean;
  updated_permissions?: Array<Record<string, unknown>>;
  answers?: Record<string, string | Array<string>>;
  content?: Record<string, unknown>;
  mode?: string;
  via?: "web" | "cli" | "tui" | "api";
};
