/** Transcripts with spend over some days, and a status line with rate limits. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "@playwright/test";
import type { Usage } from "../src/generated/Usage";
import type { TestDaemon } from "./daemon";

const HOUR_MS = 3_600_000;
/** Output tokens that cost one dollar with Opus 5.5. */
const DOLLAR = 50_000;

/** Writes a transcript whose replies, some hours before `now`, cost that many dollars each. */
export function writeSpend(
  server: TestDaemon,
  project: string,
  session: string,
  spent: [hoursAgo: number, dollars: number][],
  now = Date.now(),
): void {
  const folder = join(server.claude, "projects", `-home-dev-${project}`);
  mkdirSync(folder, { recursive: true });
  const lines = spent.map(([hoursAgo, dollars], i) =>
    JSON.stringify({
      type: "assistant",
      requestId: `r${session}${i}`,
      timestamp: new Date(now - hoursAgo * HOUR_MS).toISOString(),
      cwd: `/home/dev/${project}`,
      sessionId: session,
      message: {
        id: `m${session}${i}`,
        model: "claude-opus-5-5",
        content: [{ type: "text", text: "done" }],
        usage: { input_tokens: 5, output_tokens: Math.round(dollars * DOLLAR) },
      },
    }),
  );
  writeFileSync(join(folder, `${session}.jsonl`), `${lines.join("\n")}\n`);
}

/** Reports rate limits as Claude Code's status line does. */
export function reportLimits(server: TestDaemon, session: string, fiveHour: number, week: number): void {
  const inHours = (n: number) => Math.floor((Date.now() + n * HOUR_MS) / 1000);
  server.pipe(
    JSON.stringify({
      session_id: session,
      rate_limits: {
        five_hour: { used_percentage: fiveHour, resets_at: inHours(2) },
        seven_day: { used_percentage: week, resets_at: inHours(75) },
      },
    }),
    "statusline",
  );
}

/**
 * The usage the daemon has read so far. A page asks only when it opens and every minute, so tests wait for
 * this first.
 */
export async function usage(server: TestDaemon): Promise<Usage> {
  return (await (await fetch(`${server.url}api/usage?since=7d&refresh=true`)).json()) as Usage;
}

/** Waits until the daemon has read everything. */
export async function waitForUsage(server: TestDaemon, dollars: number): Promise<void> {
  const known = async () => {
    const { total, rate_limits } = await usage(server);
    return { dollars: Math.round(total.usd_micros / 1e4) / 100, limited: rate_limits !== null };
  };
  await expect.poll(known).toEqual({ dollars, limited: true });
}
