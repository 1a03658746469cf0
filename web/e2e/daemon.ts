//! Daemons of our own: the real binary in a throw-away home with an empty environment, ended by its own process id.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const BIN = resolve(process.env.FLIGHTDECK_BIN ?? "../target/debug/flightdeck");

export function binary(): string {
  if (existsSync(BIN)) return BIN;
  throw new Error(`There is no daemon to test at ${BIN}: build it with \`cargo build -p flightdeck\`, or set FLIGHTDECK_BIN.`);
}

async function firstUrl(child: ChildProcess): Promise<string> {
  const { stdout } = child;
  if (!stdout) throw new Error("the server has no stdout");
  // Its stdout stays open and read: a closed one would end the server at its next line.
  return new Promise((found, failed) => {
    let said = "";
    stdout.on("data", (piece) => {
      said += String(piece);
      const url = /https?:\/\/\S+(?=\s)/.exec(said);
      if (url) found(url[0].replace(/\/?$/, "/"));
    });
    stdout.on("end", () => failed(new Error(`the server ended before it said its address: ${said}`)));
  });
}

/** A hook payload, as the client's http handler posts it. */
export async function postHook(url: string, payload: Record<string, unknown>, headers: Record<string, string> = {}): Promise<Response> {
  const response = await fetch(`${url}api/live/hook`, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(payload) });
  if (!response.ok) throw new Error(`the server did not take ${String(payload.hook_event_name)}: ${response.status} ${await response.text()}`);
  return response;
}

export class Daemon {
  readonly home = mkdtempSync(join(tmpdir(), "fd-e2e-"));
  readonly claude = join(this.home, "claude");
  readonly settings = join(this.claude, "settings.json");
  url = "";
  private child: ChildProcess | null = null;

  constructor(private readonly args: string[]) {
    mkdirSync(this.claude);
  }

  /** Of the daemon and of everything else of this person. */
  get env() {
    return { PATH: "/usr/bin:/bin", HOME: this.home, TMPDIR: this.home, CLAUDE_CONFIG_DIR: this.claude, FLIGHTDECK_HOME: join(this.home, "deck") };
  }

  /** What the person wrote into config.toml; read at the next start. */
  configure(toml: string): void {
    writeFileSync(join(this.env.FLIGHTDECK_HOME, "config.toml"), toml);
  }

  /** Another command of the same person, as from a second terminal. */
  run(...args: string[]): string {
    return this.pipe("", ...args);
  }

  /** The same with something on its stdin. */
  pipe(input: string, ...args: string[]): string {
    return execFileSync(binary(), args, { env: this.env, encoding: "utf8", input });
  }

  /** A second start takes the home of the first and another port: the old one may be somebody else's by now. */
  async start(): Promise<this> {
    const child = spawn(binary(), [...this.args, "--port", "0"], { env: this.env, stdio: ["ignore", "pipe", "inherit"] });
    this.child = child;
    this.url = await firstUrl(child);
    return this;
  }

  /** SIGKILL is how a crash looks. Until it starts again it has no address. */
  async end(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    const child = this.child;
    this.child = null;
    this.url = "";
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }

  async stop(): Promise<void> {
    // Everything it has lies in its home, so there is nothing to close properly.
    await this.end("SIGKILL");
    rmSync(this.home, { recursive: true, force: true });
  }
}

export const emptyDaemon = () => new Daemon(["up", "--no-hooks"]).start();
export const hookedDaemon = () => new Daemon(["up"]).start();
export const demoDaemon = (sessions: number, seed = 1) => new Daemon(["demo", "--sessions", String(sessions), "--seed", String(seed)]).start();
