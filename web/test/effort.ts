/** An effort for tests to start from; each test sets only the fields it needs. */
import type { Effort } from "../src/generated/Effort";
import type { WindowCard } from "../src/generated/WindowCard";
import { at } from "./assignment";

type Parts = Omit<Partial<Effort>, "project"> & { project?: string };

/** Active unless `finished_at` is given. */
export function effort({ project = "api", ...rest }: Parts = {}): Effort {
  return {
    id: "e-1",
    workstream: `/home/dev/${project}`,
    project: { name: project, path: `/home/dev/${project}`, worktree: null },
    title: "Split the tax engine",
    skill: "implement",
    mode: null,
    ordinal: 1,
    lifecycle: rest.finished_at ? "finished" : "active",
    phase: null,
    phases: [],
    planned_phases: [],
    line: [],
    heartbeat: 0,
    heartbeat_limit: 10,
    held: false,
    seat: null,
    windows: [],
    windows_dropped: 0,
    guards: [],
    denials: [],
    pending_injections: 0,
    log: [],
    log_entries: 0,
    timeline: [],
    handoff: null,
    artifacts: `/home/dev/${project}/.flightdeck`,
    cost: null,
    metadata: {},
    started_at: at(0),
    finished_at: null,
    ...rest,
  };
}

/** Open unless `ended_at` is given. */
export const contextWindow = (parts: Partial<WindowCard> = {}): WindowCard => ({
  id: "w-1",
  number: 1,
  session_id: "s1",
  agent_id: null,
  previous: null,
  heartbeat: 0,
  context_percent: null,
  loaded_files: [],
  started_at: at(0),
  ended_at: null,
  end: null,
  handed_over: false,
  dehydration_payload: null,
  ...parts,
});
