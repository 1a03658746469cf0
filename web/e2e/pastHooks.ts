/** Hook events with a time in the past, put into the daemon's spool as a hook does that could not reach it. */
import { randomBytes } from "node:crypto";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestDaemon } from "./daemon";

/** One event: how many minutes ago, its name, its fields. The daemon believes times of the last 24 hours. */
export type PastHook = [minutesAgo: number, name: string, fields?: Record<string, unknown>];

export const MINUTE_MS = 60_000;

export function spoolHooks(server: TestDaemon, session_id: string, project: string, hooks: PastHook[]): void {
  const folder = join(server.env.FLIGHTDECK_HOME, "spool");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [minutesAgo, hook_event_name, fields] of hooks) {
    const firedMs = Math.round(Date.now() - minutesAgo * MINUTE_MS);
    const firedNs = `${String(firedMs)}000000`;
    const id = BigInt(firedNs).toString(16).padStart(16, "0") + randomBytes(8).toString("hex");
    const frame = {
      cmd: "hook",
      args: {
        session_id,
        hook_event_name,
        cwd: `/home/dev/${project}`,
        transcript_path: `/home/dev/none/${session_id}.jsonl`,
        ...fields,
      },
      env: { id, fired_at: new Date(firedMs).toISOString(), fired_ns: firedNs },
    };
    // Under another name until it is complete, because the daemon reads the folder meanwhile.
    const name = `${firedNs.padStart(20, "0")}-${id}.json`;
    writeFileSync(join(folder, `.${name}`), `${JSON.stringify(frame)}\n`, { mode: 0o600 });
    renameSync(join(folder, `.${name}`), join(folder, name));
  }
}

const bash = (command: string) => ({
  tool_name: "Bash",
  tool_input: { command },
  tool_use_id: `t-${command}`,
});

/** An assignment that was opened and completed: prompt, work, last words. */
export const finished = (from: number, to: number, prompt: string, said: string): PastHook[] => [
  [from, "UserPromptSubmit", { prompt }],
  [from - 0.1, "PreToolUse", bash("make")],
  [to + 0.1, "PostToolUse", bash("make")],
  [to, "Stop", { last_assistant_message: said }],
];

/** The agent asks for a permission, and the person lets it wait. */
export const blocked = (from: number, command: string): PastHook[] => [
  [from, "PreToolUse", bash(command)],
  [from, "PermissionRequest", { tool_name: "Bash", tool_input: { command } }],
];

/** The permission was given in the terminal, and the command ran. */
export const allowed = (at: number, command: string): PastHook[] => [[at, "PostToolUse", bash(command)]];
