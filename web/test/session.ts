/** A session for tests to start from; each test sets only the fields it needs. */
import type { Session } from "../src/generated/Session";

type Parts = Partial<Omit<Session, "agent_state" | "status">> & {
  group?: Session["agent_state"]["group"];
  state?: Session["agent_state"]["state"];
  role?: Session["agent_state"]["role"];
  label?: string;
  kind?: Session["status"]["kind"];
  key?: string;
};

export function session({
  group = "running",
  state = "thinking",
  role = "working",
  label = "Thinking",
  kind = "working",
  key = "5",
  ...rest
}: Parts = {}): Session {
  return {
    id: "s1",
    continues: null,
    replaced_by: null,
    ended_at: null,
    end_reason: null,
    host: null,
    unreachable_since: null,
    owner: null,
    seat: { pid: null, pane: null, tmux_socket: null, name: null, host: null },
    processes: [],
    project: { name: "api", path: "/home/dev/api", worktree: null },
    git_branch: "main",
    transcript_path: null,
    title: "Fix it",
    last_user_message: null,
    model: null,
    permission_mode: null,
    agent_state: {
      group,
      state,
      label,
      icon: "spark",
      role,
      since: "2026-11-15T18:00:00.000Z",
      source: "hook",
    },
    status: { kind, detail: null, reason: null },
    fleet_status: "working",
    rank: { default: key, urgency: key, waiting: key },
    quiet_since: null,
    stale: false,
    seen: false,
    current_activity: null,
    started_at: "2026-11-15T17:00:00.000Z",
    last_activity_at: "2026-11-15T18:00:00.000Z",
    duration_seconds: 3600,
    turn_count: 1,
    current_turn_started_at: null,
    last_turn_task_seconds: null,
    tokens: null,
    cost: null,
    context: null,
    cache: { status: "unknown", expires_at: null },
    agent_type: null,
    sub_agents: [],
    progress_items: [],
    background: { agents: 0, shells: 0, shells_min: 0 },
    queued_prompts: 0,
    last_failure: null,
    failure_is_past: false,
    waiting: null,
    parked: null,
    takes: null,
    files_touched: [],
    files_touched_total: 0,
    lines_added: 0,
    lines_removed: 0,
    compactions: 0,
    last_assistant_text: null,
    asks: [],
    intent: null,
    assignment: null,
    effort: null,
    ...rest,
  };
}
