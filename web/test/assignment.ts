/** An assignment for tests to start from; each test sets only the fields it needs. */
import type { Assignment } from "../src/generated/Assignment";

export const at = (min: number) => new Date(2026, 10, 18, 12, min).toISOString();

type Parts = Omit<Partial<Assignment>, "project"> & { project?: string };

/** An assignment that is open and at work, or completed if `completed_at` is given. */
export function assignment({ project = "api", ...rest }: Parts = {}): Assignment {
  const complete = rest.completed_at != null;
  return {
    id: "a-1",
    session_id: "s1",
    seat: null,
    host: null,
    project: { name: project, path: `/home/dev/${project}`, worktree: null },
    state: complete ? "complete" : "processing",
    reason: null,
    outcome: complete ? "completed" : null,
    inferred: false,
    title: "Fix it",
    opened_at: at(0),
    completed_at: null,
    since: at(0),
    turns: 1,
    working_seconds: 0,
    waiting_seconds: 0,
    cost: null,
    last_intent: null,
    last_message: null,
    ...rest,
  };
}
