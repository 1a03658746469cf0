/** A NATS server on loopback, and daemons that it joins. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestDaemon } from "./daemon";

/** Debian's package `nats-server`; `cargo xtask test` installs it where it may. */
export function hasNats(): boolean {
  try {
    execFileSync("nats-server", ["--version"]);
    return true;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new Error("the listener has no port");
  return address.port;
}

export class HostFleet {
  private readonly folder = mkdtempSync(join(tmpdir(), "fd-nats-"));
  private readonly daemons: TestDaemon[] = [];
  private server: ChildProcess | null = null;
  private port = 0;

  async start(): Promise<this> {
    this.port = await freePort();
    const config = join(this.folder, "nats.conf");
    const store = join(this.folder, "store");
    writeFileSync(config, `host: 127.0.0.1\nport: ${this.port}\njetstream { store_dir: "${store}" }\n`);
    this.server = spawn("nats-server", ["-c", config], { stdio: "ignore" });
    while (!(await this.answers())) await new Promise((again) => setTimeout(again, 20));
    return this;
  }

  private answers(): Promise<boolean> {
    return new Promise((answer) => {
      const socket = connect(this.port, "127.0.0.1", () => {
        socket.destroy();
        answer(true);
      });
      socket.on("error", () => answer(false));
    });
  }

  async host(name: string, { hub = false, more = "" } = {}): Promise<TestDaemon> {
    const daemon = new TestDaemon(hub ? ["up", "--no-hooks", "--hub"] : ["up", "--no-hooks"]);
    mkdirSync(daemon.env.FLIGHTDECK_HOME, { recursive: true });
    daemon.configure(`[hosts]\nurl = "nats://127.0.0.1:${this.port}"\nname = "${name}"\n${more}`);
    this.daemons.push(daemon);
    return daemon.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.daemons.map((daemon) => daemon.stop()));
    this.server?.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }
}
