/**
 * Starts real daemons for tests, each in a temporary home with an empty environment. Each is ended by its
 * process id.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const BIN = resolve(process.env.FLIGHTDECK_BIN ?? "../target/debug/flightdeck");

export function binary(): string {
  if (existsSync(BIN)) return BIN;
  throw new Error(
    `There is no daemon to test at ${BIN}: build it with \`cargo build -p flightdeck\`, or set FLIGHTDECK_BIN.`,
  );
}

async function firstUrl(child: ChildProcess): Promise<string> {
  const { stdout } = child;
  if (!stdout) throw new Error("the server has no stdout");
  // The server's stdout stays open and is read: the server would exit at its next line if stdout were closed.
  return new Promise((found, failed) => {
    let output = "";
    stdout.on("data", (piece) => {
      output += String(piece);
      const url = /https?:\/\/\S+(?=\s)/.exec(output);
      if (url) found(url[0].replace(/\/?$/, "/"));
    });
    stdout.on("end", () => failed(new Error(`the server ended before it said its address: ${output}`)));
  });
}

/** Posts a hook payload as Claude Code's HTTP hook does. */
export async function postHook(
  url: string,
  payload: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<Response> {
  const response = await fetch(`${url}api/live/hook`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(payload),
  });
  if (!response.ok)
    throw new Error(
      `the server did not take ${String(payload.hook_event_name)}: ${response.status} ${await response.text()}`,
    );
  return response;
}

export class TestDaemon {
  readonly home = mkdtempSync(join(tmpdir(), "fd-e2e-"));
  readonly claude = join(this.home, "claude");
  readonly settings = join(this.claude, "settings.json");
  url = "";
  private child: ChildProcess | null = null;

  constructor(private readonly args: string[]) {
    mkdirSync(this.claude);
  }

  /** Environment of the daemon and of every command that runs with it. */
  get env() {
    return {
      PATH: "/usr/bin:/bin",
      HOME: this.home,
      TMPDIR: this.home,
      CLAUDE_CONFIG_DIR: this.claude,
      FLIGHTDECK_HOME: join(this.home, "deck"),
    };
  }

  /** Writes config.toml, which is read at the next start. */
  configure(toml: string): void {
    writeFileSync(join(this.env.FLIGHTDECK_HOME, "config.toml"), toml);
  }

  /** Runs another flightdeck command in the same environment. */
  run(...args: string[]): string {
    return this.pipe("", ...args);
  }

  /** Runs a command with input on stdin. */
  pipe(input: string, ...args: string[]): string {
    return execFileSync(binary(), args, { env: this.env, encoding: "utf8", input });
  }

  /** A second start uses the same home and another port, because another process may have the old port. */
  async start(): Promise<this> {
    const child = spawn(binary(), [...this.args, "--port", "0"], {
      env: this.env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.child = child;
    this.url = await firstUrl(child);
    return this;
  }

  /** SIGKILL simulates a crash. The url is empty until the next start. */
  async end(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    const child = this.child;
    this.child = null;
    this.url = "";
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }

  /** SIGSTOP makes it stand still with its connections open, SIGCONT lets it go on. */
  signal(name: "SIGSTOP" | "SIGCONT"): void {
    this.child?.kill(name);
  }

  async stop(): Promise<void> {
    // The home of the daemon is deleted, so a clean shutdown is not needed.
    await this.end("SIGKILL");
    rmSync(this.home, { recursive: true, force: true });
  }
}

export const emptyDaemon = () => new TestDaemon(["up", "--no-hooks"]).start();
export const hookedDaemon = () => new TestDaemon(["up"]).start();
export const demoDaemon = (sessions: number, seed = 1) =>
  new TestDaemon(["demo", "--sessions", String(sessions), "--seed", String(seed)]).start();
