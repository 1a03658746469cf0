//! A line between the page and the daemon that can be cut, that can forget what the page had read, that can hold what
//! comes after a moment back, and that finds a daemon which began again at another port.
import { once } from "node:events";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export class Line {
  url = "";
  /** Streams begun over it: the id each resumed from. */
  readonly resumed: string[] = [];
  /** Sent instead of the page's own id. */
  pretend: string | null = null;
  /** The number of the last change that came, and of the last that the page was told. */
  came = 0;
  told = 0;
  private upTo = Number.POSITIVE_INFINITY;
  private waiting: { n: number; text: string; to: ServerResponse }[] = [];
  private whole = true;
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((req, res) => this.pass(req, res));

  /** Its url is empty while it does not run. */
  constructor(private readonly daemon: { readonly url: string }) {
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

  /** The page is told of changes up to this number; later ones wait here. */
  holdAfter(n: number): void {
    this.upTo = n;
    this.tell();
  }

  flow(): void {
    this.holdAfter(Number.POSITIVE_INFINITY);
  }

  close(): void {
    this.cut();
    this.server.close();
  }

  private pass(req: IncomingMessage, res: ServerResponse): void {
    // Nobody is there, and whoever has that port by now is another.
    if (!this.daemon.url) return void res.destroy();
    const { host, hostname, port, origin } = new URL(this.daemon.url);
    const headers: Record<string, string | string[] | undefined> = { ...req.headers, host };
    if (headers.origin) headers.origin = origin;
    const isStream = req.url === "/api/live/stream";
    if (isStream) {
      if (this.pretend && headers["last-event-id"]) headers["last-event-id"] = this.pretend;
      this.resumed.push(String(headers["last-event-id"] ?? ""));
    }
    const onward = request({ hostname, port, path: req.url, method: req.method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      if (isStream) this.listen(answer, res);
      else answer.pipe(res);
      answer.on("error", () => res.destroy());
    });
    onward.on("error", () => res.destroy());
    res.on("close", () => onward.destroy());
    req.pipe(onward);
  }

  private listen(from: IncomingMessage, to: ServerResponse): void {
    let rest = "";
    from.setEncoding("utf8").on("data", (piece: string) => {
      const whole = (rest + piece).split("\n\n");
      rest = whole.pop() ?? "";
      for (const text of whole) {
        // A heartbeat has no number; it goes with what came before it.
        this.came = Number(/^id: ?.*-(\d+)$/m.exec(text)?.[1] ?? this.came);
        this.waiting.push({ n: this.came, text: `${text}\n\n`, to });
      }
      this.tell();
    });
    from.on("end", () => to.end());
  }

  private tell(): void {
    const ready = this.waiting.filter(({ n }) => n <= this.upTo);
    this.waiting = this.waiting.slice(ready.length);
    for (const { n, text, to } of ready) {
      if (!to.destroyed) to.write(text);
      this.told = n;
    }
  }
}
