//! The server under test and the sessions in it. Sessions are driven by hook payloads, so the same stories run against
//! the mock (default), a daemon started here (FLIGHTDECK_BIN), or one that already runs (FLIGHTDECK_URL).
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base, expect, type Locator, type Page } from "@playwright/test";
import type { Session } from "../src/generated/Session";

export type Server = { url: string; mock: boolean; stop: () => Promise<void> };

async function firstUrl(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error("the server has no stdout");
  for await (const piece of child.stdout) {
    const found = /https?:\/\/\S+/.exec(String(piece));
    if (found) return found[0].replace(/\/?$/, "/");
  }
  throw new Error("the server ended before it said its address");
}

export async function startServer(sessions = 0, rate = 0): Promise<Server> {
  if (process.env.FLIGHTDECK_URL) return { url: process.env.FLIGHTDECK_URL.replace(/\/?$/, "/"), mock: false, stop: async () => undefined };
  if (process.env.FLIGHTDECK_BIN) {
    const home = await mkdtemp(join(tmpdir(), "flightdeck-e2e-"));
    const daemon = spawn(process.env.FLIGHTDECK_BIN, ["up", "--no-hooks", "--port", "0", "--home", home], { stdio: ["ignore", "pipe", "inherit"] });
    const url = await firstUrl(daemon);
    return { url, mock: false, stop: async () => { daemon.kill(); await once(daemon, "exit"); await rm(home, { recursive: true, force: true }); } };
  }
  const mock = spawn("node", ["mock-server.mjs", "--port", "0", "--sessions", String(sessions), "--rate", String(rate)], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await firstUrl(mock);
  return { url, mock: true, stop: async () => { mock.kill(); await once(mock, "exit"); } };
}

export type Verdict = { hookSpecificOutput: { decision: { behavior: string; message?: string; interrupt?: boolean; updatedInput?: Record<string, unknown>; updatedPermissions?: unknown[] } } };

export class Fleet {
  private count = 0;
  constructor(readonly server: Server, readonly page: Page) {}

  async hook(id: string, hook_event_name: string, fields: Record<string, unknown> = {}): Promise<void> {
    const payload = { session_id: id, hook_event_name, cwd: "/home/dev/api", transcript_path: `/tmp/none/${id}.jsonl`, ...fields };
    const response = await fetch(`${this.server.url}api/live/hook`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(payload) });
    expect(response.status).toBeLessThan(300);
  }

  /** A session that has a prompt and is thinking. */
  async start(prompt = "fix the build", fields: Record<string, unknown> = {}): Promise<string> {
    const id = `00000000-0000-4000-8000-${String(++this.count).padStart(12, "0")}`;
    await this.hook(id, "SessionStart", { source: "startup", model: "claude-opus-5-5", ...fields });
    await this.hook(id, "UserPromptSubmit", { prompt, ...fields });
    return id;
  }

  /** A tool call that asks; the promise is what the waiting hook gets to hear. */
  ask(id: string, tool_name: string, tool_input: Record<string, unknown>, fields: Record<string, unknown> = {}): Promise<Verdict> {
    const send = async () => {
      await this.hook(id, "PreToolUse", { tool_name, tool_input, tool_use_id: `toolu_${id}` });
      const payload = { session_id: id, hook_event_name: "PermissionRequest", cwd: "/home/dev/api", tool_name, tool_input, ...fields };
      const response = await fetch(`${this.server.url}api/live/hook`, { method: "POST", headers: { "content-type": "application/json", "x-flightdeck-hold": "1" }, body: JSON.stringify(payload) });
      return (await response.json()) as Verdict;
    };
    const verdict = send();
    // A test that never answers leaves the hook hanging until the server stops.
    verdict.catch(() => undefined);
    return verdict;
  }

  order(name: string, body: Record<string, unknown> = {}): Promise<Response> {
    return fetch(`${this.server.url}__mock/${name}`, { method: "POST", body: JSON.stringify(body) });
  }

  async sessions(): Promise<Session[]> {
    return ((await (await fetch(`${this.server.url}api/sessions`)).json()) as { sessions: Session[] }).sessions;
  }

  async open(hash = ""): Promise<void> {
    await this.page.goto(`${this.server.url}${hash}`);
    await expect(this.page.locator("[data-connection=live]")).toBeAttached();
    if ((await this.sessions()).length > 0) await expect(this.page.locator("[data-card], .row-name").first()).toBeAttached();
  }

  card(id: string): Locator {
    return this.page.locator(`[data-card="${id}"]`);
  }

  column(name: "Needs You" | "Running" | "Done"): Locator {
    return this.page.getByRole("region", { name, exact: true });
  }

  cardIn(name: "Needs You" | "Running" | "Done", id: string): Locator {
    return this.column(name).locator(`[data-card="${id}"]`);
  }
}

export const test = base.extend<{ sessions: number; rate: number; fleet: Fleet; errors: string[] }>({
  sessions: [0, { option: true }],
  rate: [0, { option: true }],
  // A page that logs an error, or breaks its CSP, fails its test.
  errors: async ({ page }, use) => {
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => message.type() === "error" && !/Failed to load resource|net::ERR/.test(message.text()) && errors.push(message.text()));
    await use(errors);
    expect(errors).toEqual([]);
  },
  fleet: async ({ page, sessions, rate, errors }, use) => {
    void errors;
    const server = await startServer(sessions, rate);
    await use(new Fleet(server, page));
    await server.stop();
  },
});

export { expect };
