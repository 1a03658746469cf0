import type { TimelineEvent } from "../generated/TimelineEvent";

export type TouchedFile = { path: string; times: number };

/** Files that tools wrote, newest first, from the events that have a payload. */
export function filesTouched(events: TimelineEvent[]): TouchedFile[] {
  const files = new Map<string, TouchedFile>();
  for (const event of events) {
    if (event.name !== "PostToolUse") continue;
    const { tool_name, tool_input } = (event.payload ?? {}) as {
      tool_name?: string;
      tool_input?: { file_path?: string; notebook_path?: string };
    };
    const path = tool_input?.file_path ?? tool_input?.notebook_path;
    if (!path || !/Edit|Write/.test(tool_name ?? "")) continue;
    const file = files.get(path) ?? { path, times: 0 };
    files.delete(path);
    files.set(path, { path, times: file.times + 1 });
  }
  return [...files.values()].reverse();
}
