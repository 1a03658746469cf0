//! A line between the page and the daemon that can be cut, and that can forget what the page had read.
import { once } from "node:events";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export class Line {
  url = "";
  /** Streams begun over it: the id each resumed from. */
  readonly resumed: string[] = [];
  /** Sent instead of the page's own id. */
  pretend: string | null = null;
  private whole = true;
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((req, res) => this.pass(req, res));

  constructor(private readonly daemon: string) {
    this.server.on("connection", (socket) => {
      this.sockets.add(socket);
      socket.on("close", () => this.sockets.delete(socket));
      if (!this.whole) socket.destroy();
    });
  }

  async open(): Promise<this> {
    this.server.listen(0, "127.0.0.1");
    await once(this.server, "listening");
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
    return this;
  }

  cut(): void {
    this.whole = false;
    for (const socket of this.sockets) socket.destroy();
  }

  mend(): void {
    this.whole = true;
  }

  close(): void {
    this.cut();
    this.server.close();
  }

  private pass(req: IncomingMessage, res: ServerResponse): void {
    const { host, origin } = new URL(this.daemon);
    const headers: Record<string, string | string[] | undefined> = { ...req.headers, host };
    if (headers.origin) headers.origin = origin;
    if (req.url === "/api/live/stream") {
      if (this.pretend && headers["last-event-id"]) headers["last-event-id"] = this.pretend;
      this.resumed.push(String(headers["last-event-id"] ?? ""));
    }
    const onward = request({ ...urlParts(this.daemon), path: req.url, method: req.method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
      answer.on("error", () => res.destroy());
    });
    onward.on("error", () => res.destroy());
    res.on("close", () => onward.destroy());
    req.pipe(onward);
  }
}

const urlParts = (url: string) => ({ hostname: new URL(url).hostname, port: new URL(url).port });
