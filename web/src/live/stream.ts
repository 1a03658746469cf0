/**
 * Keeps a stream to the daemon open, publishes the state of the connection, and resumes by event id after an
 * interruption.
 */
import { computed, signal } from "@preact/signals";
import { errorText } from "../lib/errorText";
import { type SseMessage, SseParser } from "./sse";

export type Connection =
  | { kind: "connecting" }
  | { kind: "live" }
  | { kind: "catching_up"; events: number }
  | { kind: "lost"; retryAt: number; reason: string };

export const connection = signal<Connection>({ kind: "connecting" });

/**
 * When the daemon was last heard, while it is not: from the loss of the connection until the board is live
 * again. Null before the first connection.
 */
export const silentSince = signal<number | null>(null);
/** Nothing on the page is known to be true now, and nothing can be sent. */
export const isOffline = computed(() => silentSince.value !== null);

/**
 * The daemon sends a heartbeat every second. After this time without any data, in which three heartbeats are
 * missing, the page looks a second time and then says that the connection is lost: within four seconds.
 */
const SILENCE_MAX_MS = 3_200;
/** A busy page may run the timer before it has read what arrived, so it looks again after this time. */
const SECOND_LOOK_MS = 300;
/** A replay counts as finished after a pause of this length. */
const REPLAY_PAUSE_MS = 250;
/** A busy fleet has no pauses, so a replay also counts as finished after this time. */
const REPLAY_MAX_MS = 3_000;
const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 5_000;

export type StreamOptions = { url: string; onMessages: (messages: SseMessage[]) => void };

export class Stream {
  private lastId: string | null = null;
  private retryMs = RETRY_FIRST_MS;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private replayEnds = 0;
  private settle: ReturnType<typeof setTimeout> | undefined;
  private silence: ReturnType<typeof setTimeout> | undefined;
  private abort: AbortController | null = null;
  /** When data last arrived. */
  private heardAt: number | null = null;

  constructor(private readonly options: StreamOptions) {
    addEventListener("online", () => this.tryNow());
    document.addEventListener("visibilitychange", () => !document.hidden && this.tryNow());
  }

  start(): void {
    void this.connect();
  }

  /** Reconnects at once; does nothing while a connection exists or is being made. */
  tryNow(): void {
    if (connection.peek().kind !== "lost") return;
    clearTimeout(this.retry);
    void this.connect();
  }

  private async connect(): Promise<void> {
    const abort = new AbortController();
    this.abort = abort;
    connection.value = this.lastId ? { kind: "catching_up", events: 0 } : { kind: "connecting" };
    this.listenForSilence();
    try {
      const headers: Record<string, string> = { accept: "text/event-stream" };
      if (this.lastId) headers["last-event-id"] = this.lastId;
      const response = await fetch(this.options.url, { headers, cache: "no-store", signal: abort.signal });
      if (!response.ok || !response.body) throw new Error(`the daemon said ${response.status}`);
      await this.read(response.body);
      this.lost("the daemon closed the stream");
    } catch (error) {
      this.lost(errorText(error));
    }
  }

  private async read(body: ReadableStream<Uint8Array>): Promise<void> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    const parser = new SseParser();
    this.replayBegins();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      this.retryMs = RETRY_FIRST_MS;
      this.heardAt = Date.now();
      this.listenForSilence();
      const messages = parser.push(decoder.decode(value, { stream: true }));
      if (messages.length > 0) this.receive(messages);
    }
  }

  private receive(messages: SseMessage[]): void {
    for (const message of messages) if (message.id) this.lastId = message.id;
    const state = connection.peek();
    if (messages.some((m) => m.event === "gap")) {
      connection.value = { kind: "catching_up", events: 0 };
      this.replayBegins();
    } else if (state.kind === "catching_up") {
      connection.value = { kind: "catching_up", events: state.events + messages.length };
      this.settleSoon();
    }
    this.options.onMessages(messages);
    if (messages.some((m) => m.event === "snapshot")) this.live();
  }

  private replayBegins(): void {
    this.replayEnds = performance.now() + REPLAY_MAX_MS;
    this.settleSoon();
  }

  private settleSoon(): void {
    clearTimeout(this.settle);
    if (performance.now() >= this.replayEnds) this.live();
    else
      this.settle = setTimeout(
        () => connection.peek().kind === "catching_up" && this.live(),
        REPLAY_PAUSE_MS,
      );
  }

  private live(): void {
    clearTimeout(this.settle);
    connection.value = { kind: "live" };
    silentSince.value = null;
  }

  private listenForSilence(): void {
    clearTimeout(this.silence);
    const heard = this.heardAt;
    const giveUp = () => this.abort?.abort(new Error("the daemon does not answer"));
    this.silence = setTimeout(() => {
      this.silence = setTimeout(() => this.heardAt === heard && giveUp(), SECOND_LOOK_MS);
    }, SILENCE_MAX_MS);
  }

  private lost(reason: string): void {
    clearTimeout(this.settle);
    clearTimeout(this.silence);
    const wait = this.retryMs;
    this.retryMs = Math.min(RETRY_MAX_MS, this.retryMs * 2);
    // Before the first data there is no board that could be out of date.
    if (this.heardAt !== null) silentSince.value ??= this.heardAt;
    connection.value = { kind: "lost", retryAt: Date.now() + wait, reason };
    this.retry = setTimeout(() => void this.connect(), wait);
  }
}

let stream: Stream | null = null;

export function startStream(onMessages: StreamOptions["onMessages"]): void {
  stream = new Stream({ url: "/api/live/stream", onMessages });
  stream.start();
}

/** Tries to reconnect without waiting for the next retry. */
export const reconnectNow = (): void => stream?.tryNow();
