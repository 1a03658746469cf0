//! A page, a server and the sessions in it. Sessions are driven by hook payloads, as Claude Code would send them.
import { test as base, expect, type Locator, type Page } from "@playwright/test";
import type { Session } from "../src/generated/Session";
import type { Snapshot } from "../src/generated/Snapshot";
import { demoDaemon, emptyDaemon, hookedDaemon, postHook, type Daemon } from "./daemon";
import { servePage } from "./dist";
import { Line } from "./line";
import { rest } from "./resting";

export type Column = "Needs You" | "Running" | "Done";
export const GROUPS = { "Needs You": "needs_you", Running: "running", Done: "done" } as const;

/**
 * empty: a daemon without hooks and without sessions. hooked: one that registers itself. resting: 54 sessions that stand
 * still, shared by the stories of a worker. demo: the simulated fleet in motion.
 */
export type Ground = "empty" | "hooked" | "resting" | "demo";

export type Verdict = { hookSpecificOutput: { decision: { behavior: string; message?: string; interrupt?: boolean; updatedInput?: Record<string, unknown>; updatedPermissions?: unknown[] } } };

/** How long the page says a thing (`ui/toast.tsx`), and how long it holds a card under a resting pointer (`board/hold.ts`). */
export const TOAST_MS = 5_000;
export const PATIENCE_MS = 8_000;
/** How far the page's time is set ahead to stand still there: further than a busy machine can be late. */
const AHEAD_MS = 20_000;
const FRAME_MS = 20;

export class Fleet {
  private count = 0;
  constructor(readonly server: Daemon, readonly page: Page) {}

  async hook(id: string, hook_event_name: string, fields: Record<string, unknown> = {}): Promise<void> {
    await postHook(this.server.url, { session_id: id, hook_event_name, cwd: "/home/dev/api", transcript_path: `/home/dev/none/${id}.jsonl`, ...fields });
  }

  /** A session that has a prompt and is thinking. */
  async start(prompt = "fix the build", fields: Record<string, unknown> = {}): Promise<string> {
    const id = `00000000-0000-4000-8000-${String(++this.count).padStart(12, "0")}`;
    await this.hook(id, "SessionStart", { source: "startup", model: "claude-opus-5-5", ...fields });
    await this.hook(id, "UserPromptSubmit", { prompt, ...fields });
    return id;
  }

  /** It asks for a permission and stands still. */
  async block(id: string, command: string): Promise<void> {
    const call = { tool_name: "Bash", tool_input: { command }, tool_use_id: `toolu_${id}_${command}` };
    await this.hook(id, "PreToolUse", call);
    await this.hook(id, "PermissionRequest", { tool_name: "Bash", tool_input: { command } });
  }

  /** A tool call that asks; the promise is what the waiting hook gets to hear. */
  ask(id: string, tool_name: string, tool_input: Record<string, unknown>, fields: Record<string, unknown> = {}): Promise<Verdict> {
    const send = async () => {
      await this.hook(id, "PreToolUse", { tool_name, tool_input, tool_use_id: `toolu_${id}` });
      const payload = { session_id: id, hook_event_name: "PermissionRequest", cwd: "/home/dev/api", tool_name, tool_input, ...fields };
      return (await (await postHook(this.server.url, payload, { "x-flightdeck-hold": "1" })).json()) as Verdict;
    };
    const verdict = send();
    // A test that never answers leaves the hook hanging until the server stops.
    verdict.catch(() => undefined);
    return verdict;
  }

  async board(): Promise<Snapshot> {
    return (await (await fetch(`${this.server.url}api/sessions`)).json()) as Snapshot;
  }

  async sessions(): Promise<Session[]> {
    return (await this.board()).sessions;
  }

  async open(hash = "", through = this.server.url): Promise<void> {
    await this.page.goto(`${through}${hash}`);
    await expect(this.page.locator("[data-connection=live]")).toBeAttached();
    if ((await this.sessions()).length > 0) await expect(this.page.locator("[data-card], .row-name").first()).toBeAttached();
  }

  /** Nothing glides or fades any more. Endless turning does not count. */
  async still(): Promise<void> {
    const moving = () => this.page.evaluate(() => document.getAnimations().filter((a) => a.effect?.getComputedTiming().iterations !== Infinity && a.playState === "running").length);
    await expect.poll(moving).toBe(0);
  }

  /** No card has moved for so long that keys answer again. */
  async listens(): Promise<void> {
    await expect(this.page.locator("html[data-settling]")).toHaveCount(0);
  }

  /** Call before the page opens: what it ends by itself after so long lasts until something else ends it, however slow we are to look. */
  async lasts(ms: typeof TOAST_MS | typeof PATIENCE_MS): Promise<void> {
    await this.page.addInitScript((ms) => {
      const { setTimeout } = window;
      const never = 86_400_000;
      Object.assign(window, { setTimeout: (act: TimerHandler, after?: number, ...args: unknown[]) => setTimeout(act, after === ms ? never : after, ...args) });
    }, ms);
  }

  /** From here on the page's time stands still, but for the frames that `drawn` lets pass. Wants `page.clock.install()`. */
  async freeze(): Promise<void> {
    await this.page.clock.pauseAt((await this.page.evaluate(() => Date.now())) + AHEAD_MS);
  }

  /** What is read after a frame, and again until it is as expected: a dozen frames at most, so hardly any of the page's time. */
  drawn<T>(read: () => Promise<T>) {
    return expect.poll(async () => {
      await this.page.clock.runFor(FRAME_MS);
      return read();
    }, { intervals: [100, 250, 500, 1_000] });
  }

  card(id: string): Locator {
    return this.page.locator(`[data-card="${id}"]`);
  }

  column(name: Column): Locator {
    return this.page.getByRole("region", { name, exact: true });
  }

  cardIn(name: Column, id: string): Locator {
    return this.column(name).locator(`[data-card="${id}"]`);
  }

  /** What stands in each column, top to bottom, as "id label", all read at one moment. */
  shown(): Promise<string[][]> {
    return this.page.locator("section.column").evaluateAll((columns) => columns.map((column) =>
      Array.from(column.querySelectorAll<HTMLElement>("[data-card]"), (c) => `${c.dataset.card} ${c.getAttribute("aria-label")?.split(": ").slice(1).join(": ")}`)));
  }
}

/** The page has logged these errors, which belong to the story, and no others. */
export async function logged(errors: string[], ...parts: string[]): Promise<void> {
  await expect.poll(() => errors).toEqual(parts.map((part) => expect.stringContaining(part)));
  errors.splice(0);
}

/** What a card that asks has to press. */
export const allow = (card: Locator) => card.getByRole("button", { name: /^Allow/ });

/** What AskUserQuestion asks, with a comma in a label. */
export const questions = [{ question: "Which way?", header: "Way", multiSelect: false, options: [{ label: "Left", description: "shorter" }, { label: "Right, then left", description: "safer" }] }];

export const COLUMNS: Column[] = ["Needs You", "Running", "Done"];

/** The same of one column, as the API has it. */
export function wantedIn(sessions: Session[], column: Column, sort: "default" | "urgency" = "default"): string[] {
  const members = sessions.filter((s) => s.agent_state.group === GROUPS[column]);
  members.sort((a, b) => (a.rank[sort] < b.rank[sort] ? -1 : a.rank[sort] > b.rank[sort] ? 1 : a.id < b.id ? -1 : 1));
  return members.map((s) => `${s.id} ${s.agent_state.label}`);
}

type Options = { ground: Ground; sessions: number };
type Own = { fleet: Fleet; errors: string[]; line: Line };

export const test = base.extend<Options & Own, { resting: () => Promise<Daemon> }>({
  ground: ["empty", { option: true }],
  sessions: [0, { option: true }],
  /** Started by the first story of a worker that wants it. */
  resting: [async ({}, use) => {
    let started: Promise<Daemon> | undefined;
    await use(() => (started ??= emptyDaemon().then(async (daemon) => { await rest(daemon.url); return daemon; })));
    await (await started)?.stop();
  }, { scope: "worker" }],
  // A page that logs an error, or breaks its CSP, fails its test.
  errors: async ({ page }, use) => {
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => message.type() === "error" && !/net::ERR/.test(message.text()) && errors.push(message.text()));
    await use(errors);
    expect(errors).toEqual([]);
  },
  fleet: async ({ page, ground, sessions, errors, resting }, use) => {
    void errors;
    await servePage(page);
    const shared = ground === "resting";
    const server = shared ? await resting() : ground === "demo" ? await demoDaemon(sessions || 54) : ground === "hooked" ? await hookedDaemon() : await emptyDaemon();
    await use(new Fleet(server, page));
    // What is still asked when a story ends would fail the next one.
    await page.unrouteAll({ behavior: "ignoreErrors" });
    if (!shared) await server.stop();
  },
  line: async ({ fleet }, use) => {
    const line = await new Line(fleet.server).open();
    await use(line);
    line.close();
  },
});

export { expect };
