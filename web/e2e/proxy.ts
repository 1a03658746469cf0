/**
 * A proxy between page and daemon. It can cut connections, replace the id a stream resumes from, and hold
 * back changes. It also finds a daemon that restarted on another port.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export class CuttableProxy {
  url = "";
  /** The id that each stream resumed from. */
  readonly resumedFrom: string[] = [];
  /** Sent instead of the page's own Last-Event-ID. */
  fakeLastEventId: string | null = null;
  /** The number of the last change received from the daemon, and of the last one forwarded to the page. */
  received = 0;
  forwarded = 0;
  private forwardLimit = Number.POSITIVE_INFINITY;
  private queue: { n: number; text: string; to: ServerResponse }[] = [];
  private connected = true;
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((req, res) => this.forward(req, res));

  /** The daemon's url is empty while it does not run. */
  constructor(private readonly daemon: { readonly url: string }) {
    this.server.on("connection", (socket) => {
      this.sockets.add(socket);
      socket.on("close", () => this.sockets.delete(socket));
      if (!this.connected) socket.destroy();
    });
  }

  async open(): Promise<this> {
    this.server.listen(0, "127.0.0.1");
    await once(this.server, "listening");
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
    return this;
  }

  cut(): void {
    this.connected = false;
    for (const socket of this.sockets) socket.destroy();
  }

  restore(): void {
    this.connected = true;
  }

  /** Forwards changes up to this number and holds back later ones. */
  holdAfter(n: number): void {
    this.forwardLimit = n;
    this.flush();
  }

  release(): void {
    this.holdAfter(Number.POSITIVE_INFINITY);
  }

  close(): void {
    this.cut();
    this.server.close();
  }

  private forward(req: IncomingMessage, res: ServerResponse): void {
    // The daemon does not run, and another process may have its old port.
    if (!this.daemon.url) return void res.destroy();
    const { host, hostname, port, origin } = new URL(this.daemon.url);
    const headers: Record<string, string | string[] | undefined> = { ...req.headers, host };
    if (headers.origin) headers.origin = origin;
    const isStream = req.url === "/api/live/stream";
    if (isStream) {
      if (this.fakeLastEventId && headers["last-event-id"]) headers["last-event-id"] = this.fakeLastEventId;
      this.resumedFrom.push(String(headers["last-event-id"] ?? ""));
    }
    const onward = request({ hostname, port, path: req.url, method: req.method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      if (isStream) this.forwardStream(answer, res);
      else answer.pipe(res);
      answer.on("error", () => res.destroy());
    });
    onward.on("error", () => res.destroy());
    res.on("close", () => onward.destroy());
    req.pipe(onward);
  }

  private forwardStream(from: IncomingMessage, to: ServerResponse): void {
    let rest = "";
    from.setEncoding("utf8").on("data", (piece: string) => {
      const messages = (rest + piece).split("\n\n");
      rest = messages.pop() ?? "";
      for (const text of messages) {
        // A heartbeat has no number. It is forwarded at once: the daemon is alive while changes are held back.
        if (text.startsWith(":")) {
          if (!to.destroyed) to.write(`${text}\n\n`);
          continue;
        }
        this.received = Number(/^id: ?.*-(\d+)$/m.exec(text)?.[1] ?? this.received);
        this.queue.push({ n: this.received, text: `${text}\n\n`, to });
      }
      this.flush();
    });
    from.on("end", () => to.end());
  }

  private flush(): void {
    const ready = this.queue.filter(({ n }) => n <= this.forwardLimit);
    this.queue = this.queue.slice(ready.length);
    for (const { n, text, to } of ready) {
      if (!to.destroyed) to.write(text);
      this.forwarded = n;
    }
  }
}
