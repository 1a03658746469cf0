import { afterEach, expect, test, vi } from "vitest";
import { changeFrom, latestOnly } from "../src/live/messageQueue";
import { SseParser } from "../src/live/sse";
import {
  allSessions,
  applyChanges,
  onSessionChanges,
  type StoreChange,
  sessionSignal,
} from "../src/live/store";
import { connection, isOffline, Stream } from "../src/live/stream";
import { session } from "./session";

test("a message may arrive in any number of pieces", () => {
  const text =
    'event: session_updated\nid: b-7\ndata: {"a":\ndata: 1}\n\n: heartbeat\n\nevent: gap\ndata: {}\n\n';
  for (const size of [1, 3, 7, 1000]) {
    const parser = new SseParser();
    const got = [];
    for (let i = 0; i < text.length; i += size) got.push(...parser.push(text.slice(i, i + size)));
    expect(got).toEqual([
      { event: "session_updated", data: '{"a":\n1}', id: "b-7" },
      { event: "gap", data: "{}", id: "b-7" },
    ]);
  }
});

test("lines may end in CR LF, even if split between pieces", () => {
  const parser = new SseParser();
  expect([...parser.push("event: gap\r"), ...parser.push("\ndata: {}\r\n\r"), ...parser.push("\n")]).toEqual([
    { event: "gap", data: "{}", id: null },
  ]);
});

test("an unknown event and an invalid event change nothing", () => {
  expect(changeFrom({ event: "weather", data: "{}", id: null })).toBeNull();
  const log = console.error;
  console.error = () => undefined;
  expect(changeFrom({ event: "session_updated", data: "{", id: null })).toBeNull();
  console.error = log;
});

const update = (s: ReturnType<typeof session>): StoreChange => ({
  kind: "session",
  session: s,
  discovered: false,
});

test("within a frame only the last message per session is kept, unless the session changed its column", () => {
  const running = session({ id: "a" });
  const asking = session({ id: "a", group: "needs_you" });
  expect(
    latestOnly([update(running), update(running), update(session({ id: "b" })), update(running)]),
  ).toHaveLength(2);
  expect(latestOnly([update(running), update(asking), update(running)])).toHaveLength(3);
});

test("snapshots and changes report the previous session if the page knew it", () => {
  const moves: string[] = [];
  const stop = onSessionChanges((all) =>
    moves.push(...all.map((m) => `${m.before?.agent_state.group ?? "none"}→${m.after.agent_state.group}`)),
  );
  applyChanges([
    {
      kind: "snapshot",
      snapshot: { boot: "b", n: 1, sessions: [session({ id: "a" }), session({ id: "gone" })] },
    },
  ]);
  applyChanges([
    {
      kind: "snapshot",
      snapshot: {
        boot: "c",
        n: 2,
        sessions: [session({ id: "a", group: "needs_you" }), session({ id: "late" })],
      },
    },
  ]);
  expect([...allSessions()].map((s) => s.peek().id)).toEqual(["a", "late"]);
  applyChanges([update(session({ id: "a", group: "done" }))]);
  applyChanges([{ kind: "session", session: session({ id: "new", continues: "a" }), discovered: true }]);
  expect(moves).toEqual([
    "none→running",
    "none→running",
    "running→needs_you",
    "none→running",
    "needs_you→done",
    "none→running",
  ]);
  expect(sessionSignal("a")).toBeUndefined();
  stop();
});

test("a change of one session does not touch the signal of another", () => {
  applyChanges([
    {
      kind: "snapshot",
      snapshot: { boot: "b", n: 1, sessions: [session({ id: "a" }), session({ id: "b" })] },
    },
  ]);
  let redraws = 0;
  const stop = sessionSignal("b")?.subscribe(() => redraws++);
  applyChanges([update(session({ id: "a", title: "Other" }))]);
  expect(redraws).toBe(1);
  stop?.();
});

test("a card is removed by the daemon's message or when another session continues it", () => {
  applyChanges([
    {
      kind: "snapshot",
      snapshot: {
        boot: "b",
        n: 1,
        sessions: [session({ id: "a" }), session({ id: "b" }), session({ id: "c" })],
      },
    },
  ]);
  const removed = changeFrom({ event: "session_removed", data: '{"id":"a"}', id: "b-2" });
  if (removed) applyChanges(latestOnly([update(session({ id: "a" })), removed]));
  applyChanges([update(session({ id: "b", replaced_by: "d", group: "done" }))]);
  expect([...allSessions()].map((s) => s.peek().id)).toEqual(["c"]);
});

/**
 * Replaces fetch with a daemon whose stream the test writes, and the browser's document with a visible page.
 */
function daemon(): ReadableStreamDefaultController<Uint8Array>[] {
  const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  vi.useFakeTimers();
  vi.stubGlobal("addEventListener", () => undefined);
  vi.stubGlobal("document", { addEventListener: () => undefined });
  vi.stubGlobal(
    "fetch",
    async (_url: string, { signal }: { signal: AbortSignal }) =>
      new Response(
        new ReadableStream<Uint8Array>({
          start: (stream) => {
            streams.push(stream);
            signal.addEventListener("abort", () => stream.error(signal.reason));
          },
        }),
      ),
  );
  return streams;
}

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("catching up ends with the first pause, or after a few seconds without one", async () => {
  const streams = daemon();
  const send = async (event: string, id: number) => {
    streams.at(-1)?.enqueue(new TextEncoder().encode(`event: ${event}\nid: b-${id}\ndata: {}\n\n`));
    await vi.advanceTimersByTimeAsync(100);
  };
  const reconnect = async () => {
    streams.at(-1)?.close();
    await vi.advanceTimersByTimeAsync(600);
  };
  new Stream({ url: "/stream", onMessages: () => undefined }).start();
  await vi.advanceTimersByTimeAsync(0);
  await send("snapshot", 1);
  expect(connection.peek().kind).toBe("live");
  await reconnect();
  await send("session_updated", 2);
  expect(connection.peek().kind).toBe("catching_up");
  await vi.advanceTimersByTimeAsync(250);
  expect(connection.peek().kind).toBe("live");
  await reconnect();
  await send("session_updated", 3);
  expect(connection.peek()).toMatchObject({ kind: "catching_up" });
  for (let id = 4; id < 40; id++) await send("session_updated", id);
  expect(connection.peek().kind).toBe("live");
});

test("a daemon that stands still is reported after three missing heartbeats, within four seconds", async () => {
  const [streams, heartbeat] = [daemon(), new TextEncoder().encode(": \n\n")];
  new Stream({ url: "/stream", onMessages: () => undefined }).start();
  await vi.advanceTimersByTimeAsync(0);
  for (let second = 0; second < 10; second++) {
    streams.at(-1)?.enqueue(heartbeat);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(isOffline.peek()).toBe(false);
  await vi.advanceTimersByTimeAsync(2_100);
  expect(isOffline.peek()).toBe(false);
  await vi.advanceTimersByTimeAsync(900);
  expect(isOffline.peek()).toBe(true);
});
