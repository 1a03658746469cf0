import { expect, test } from "vitest";
import { rowsOf } from "../src/drawer/Conversation";
import {
  joined,
  newsOf,
  notYetWritten,
  type Said,
  type Talk,
  withOlder,
} from "../src/drawer/conversationPages";
import type { ConversationMessage } from "../src/generated/ConversationMessage";
import { session } from "./session";

const at = (second: number) => new Date(second * 1_000).toISOString();
const message = (n: number, text = `message ${n}`): ConversationMessage => ({
  id: `${n}.0`,
  at: at(n),
  role: n % 2 ? "assistant" : "user",
  kind: "text",
  text,
  tool_name: null,
});
const talk = (from: number, to: number, before: number | null = from): Talk => ({
  messages: Array.from({ length: to - from }, (_, i) => message(from + i)),
  before,
});
const page = ({ messages, before }: Talk) => ({ messages, next_before: before, missing: null });
const said = (second: number, text: string): Said => ({
  id: `e${second}`,
  at: second * 1_000,
  you: true,
  text,
});

test("newer messages follow what is shown, each once", () => {
  expect(joined(null, talk(5, 9))).toEqual(talk(5, 9));
  expect(joined(talk(0, 8, null), talk(5, 12))).toEqual(talk(0, 12, null));
  expect(joined(talk(5, 9), talk(5, 9))).toEqual(talk(5, 9));
});

test("a newest page that begins before what is shown brings its own cursor", () => {
  expect(joined(talk(5, 9), talk(2, 12))).toEqual(talk(2, 12));
});

test("after a gap, or in a file that was replaced, the conversation starts again", () => {
  expect(joined(talk(0, 5, null), talk(8, 12))).toEqual(talk(8, 12));
  expect(joined(talk(0, 5, null), talk(0, 0, null))).toEqual(talk(0, 0, null));
});

test("an older page is put before what is shown, unless it begins elsewhere by now", () => {
  expect(withOlder(talk(5, 9), 5, page(talk(2, 5)))).toEqual(talk(2, 9));
  expect(withOlder(talk(5, 9), 7, page(talk(2, 7)))).toEqual(talk(5, 9));
  expect(withOlder(null, 5, page(talk(2, 5)))).toBeNull();
});

test("a message that the transcript does not have yet comes from its event, once", () => {
  const { messages } = talk(0, 4);
  const late = said(9, "and now this");
  expect(notYetWritten(messages, [said(1, "old"), late])).toEqual([late]);
  expect(notYetWritten([...messages, message(8, "and now\n this")], [late])).toEqual([]);
  // Both texts may be cut.
  const long = "x".repeat(900);
  expect(notYetWritten([message(8, `${long}…`)], [said(9, long.slice(0, 700))])).toEqual([]);
});

test("without a transcript the rows are those of the events", () => {
  expect(rowsOf(null, [said(1, "fix")])).toEqual([{ ...said(1, "fix"), kind: "text" }]);
  const rows = rowsOf(talk(0, 2), [said(9, "go on")]);
  expect(rows.map(({ you, text }) => [you, text])).toEqual([
    [true, "message 0"],
    [false, "message 1"],
    [true, "go on"],
  ]);
});

test("the conversation is read again after an event and after the daemon read the transcript", () => {
  const before = session();
  expect(newsOf(session())).toBe(newsOf(before));
  const changes: Partial<typeof before>[] = [
    { last_activity_at: "2026-11-15T18:00:01.000Z" },
    { turn_count: 2 },
    { last_assistant_text: "Done." },
    { compactions: 1 },
    { transcript_path: "/home/dev/s1.jsonl" },
  ];
  for (const change of changes) expect(newsOf(session(change))).not.toBe(newsOf(before));
  // What the person does to the card is no news.
  expect(newsOf(session({ seen: true, parked: { since: before.started_at, until: null } }))).toBe(
    newsOf(before),
  );
});
