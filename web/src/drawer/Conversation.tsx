/**
 * The whole conversation, from the transcript. While there is none: prompts and the last message of each turn,
 * from events. The newest message is at the bottom; older ones are loaded when the person scrolls up to them.
 */
import type { RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { MessageKind } from "../generated/MessageKind";
import type { Session } from "../generated/Session";
import type { TimelineEvent } from "../generated/TimelineEvent";
import { time } from "../lib/clock";
import { clockTime, plural } from "../lib/format";
import { Markdown } from "../ui/Markdown";
import { notYetWritten, type Said, type Talk, useConversation } from "./conversationPages";

export function saidIn(events: TimelineEvent[]): Said[] {
  return events.flatMap((event) => {
    const { prompt, last_assistant_message: answer } = event.payload ?? {};
    const text = event.by_person ? prompt : /^Stop/.test(event.name) ? answer : null;
    if (typeof text !== "string" || text === "") return [];
    return [{ id: event.id, at: time(event.fired_at ?? event.received_at), you: event.by_person, text }];
  });
}

type Row = { id: string; at: number | null; you: boolean; kind: MessageKind; text: string };

export function rowsOf(talk: Talk | null, said: Said[]): Row[] {
  const written = (talk?.messages ?? []).map(({ id, at, role, kind, text }) => {
    return { id, at: at === null ? null : time(at), you: role === "user", kind, text };
  });
  const late = notYetWritten(talk?.messages ?? [], said);
  return [...written, ...late.map((message) => ({ ...message, kind: "text" as const }))];
}

type ConversationProps = { session: Session; events: TimelineEvent[]; loadOlder: (() => void) | null };

export function Conversation({ session, events, loadOlder: loadOlderEvents }: ConversationProps) {
  const { talk, problem, loadOlder: loadOlderPage } = useConversation(session);
  const loadOlder = talk === null ? loadOlderEvents : loadOlderPage;
  const rows = rowsOf(talk, saidIn(events));
  const box = useKeptScroll(rows);
  if (rows.length === 0 && !loadOlder) return null;
  const count = plural(rows.filter(({ kind }) => kind === "text").length, "message");
  return (
    <section aria-label="Conversation">
      <h3 class="sect">
        Conversation<span class="aside">{loadOlder ? `last ${count}` : count}</span>
      </h3>
      {problem && <p class="talk-note">{problem}</p>}
      <div
        class="talk"
        ref={box}
        tabIndex={0}
        role="group"
        aria-label="Messages"
        onScroll={(event) => event.currentTarget.scrollTop < NEAR_TOP_PX && loadOlder?.()}
      >
        {loadOlder && (
          <button type="button" class="btn ghost" onClick={loadOlder}>
            Load earlier messages
          </button>
        )}
        {rows.map((row) => (
          <Message key={row.id} {...row} />
        ))}
      </div>
    </section>
  );
}

/** Drawn once: what was said does not change. */
function Message({ at, you, kind, text }: Row) {
  return useMemo(
    () => (
      <div class={you ? "msg you" : "msg claude"} data-kind={kind}>
        <time>{at === null ? "" : clockTime(at, true)}</time>
        {kind === "text" ? (
          <div>
            <Markdown text={text} />
          </div>
        ) : (
          <span title={text}>{text}</span>
        )}
      </div>
    ),
    [at, you, kind, text],
  );
}

/** How close to the top older messages are loaded. */
const NEAR_TOP_PX = 80;
/** How close to its end the list counts as scrolled to the end. */
const AT_END_PX = 24;

const isAtEnd = ({ scrollHeight, scrollTop, clientHeight }: HTMLElement) =>
  scrollHeight - scrollTop - clientHeight < AT_END_PX;

/** Another width wraps the messages anew: the newest stays at the end. */
function useEndAfterResize(box: RefObject<HTMLDivElement | null>): void {
  useLayoutEffect(() => {
    const shown = box.current;
    if (!shown) return;
    let atEnd = true;
    const note = () => {
      atEnd = isAtEnd(shown);
    };
    const observer = new ResizeObserver(() => {
      if (atEnd) shown.scrollTop = shown.scrollHeight;
    });
    observer.observe(shown);
    shown.addEventListener("scroll", note, { passive: true });
    return () => {
      observer.disconnect();
      shown.removeEventListener("scroll", note);
    };
  }, [box.current]);
}

/** Stays at the newest message, and keeps its place when older ones are added above. */
function useKeptScroll(rows: Row[]) {
  const box = useRef<HTMLDivElement>(null);
  const before = useRef({ first: "", height: 0, atEnd: true });
  const list = box.current;
  // Read before the new messages are in the document.
  if (list)
    before.current = {
      first: before.current.first,
      height: list.scrollHeight,
      atEnd: isAtEnd(list),
    };
  useLayoutEffect(() => {
    const shown = box.current;
    if (!shown) return;
    const { first, height, atEnd } = before.current;
    if (atEnd) shown.scrollTop = shown.scrollHeight;
    else if (rows[0]?.id !== first) shown.scrollTop += shown.scrollHeight - height;
    before.current.first = rows[0]?.id ?? "";
  }, [rows.length, rows[0]?.id, rows.at(-1)?.id]);
  useEndAfterResize(box);
  return box;
}
