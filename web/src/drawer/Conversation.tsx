/**
 * The conversation as far as events carry it: prompts, and the last message of each turn. The newest message is
 * at the bottom; older ones are loaded when the person scrolls up to them.
 */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { TimelineEvent } from "../generated/TimelineEvent";
import { time } from "../lib/clock";
import { clockTime, plural } from "../lib/format";
import { Markdown } from "../ui/Markdown";

export type Said = { id: string; at: number; you: boolean; text: string };

export function saidIn(events: TimelineEvent[]): Said[] {
  return events.flatMap((event) => {
    const { prompt, last_assistant_message: answer } = event.payload ?? {};
    const text = event.by_person ? prompt : /^Stop/.test(event.name) ? answer : null;
    if (typeof text !== "string" || text === "") return [];
    return [{ id: event.id, at: time(event.fired_at ?? event.received_at), you: event.by_person, text }];
  });
}

type ConversationProps = { events: TimelineEvent[]; loadOlder: (() => void) | null };

export function Conversation({ events, loadOlder }: ConversationProps) {
  const said = saidIn(events);
  const box = useKeptScroll(said);
  if (said.length === 0 && !loadOlder) return null;
  return (
    <section aria-label="Conversation">
      <h3 class="sect">
        Conversation<span class="aside">{plural(said.length, "message")}</span>
      </h3>
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
        {said.map((message) => (
          <div key={message.id} class={message.you ? "msg you" : "msg claude"}>
            <time>{clockTime(message.at, true)}</time>
            <div>
              <Markdown text={message.text} />
            </div>
          </div>
        ))}
      </div>
    </section>
  );
}

/** How close to the top older messages are loaded. */
const NEAR_TOP_PX = 80;
/** How close to its end the list counts as scrolled to the end. */
const AT_END_PX = 24;

/** Stays at the newest message, and keeps its place when older ones are added above. */
function useKeptScroll(said: Said[]) {
  const box = useRef<HTMLDivElement>(null);
  const before = useRef({ first: "", height: 0, atEnd: true });
  const list = box.current;
  // Read before the new messages are in the document.
  if (list)
    before.current = {
      first: before.current.first,
      height: list.scrollHeight,
      atEnd: list.scrollHeight - list.scrollTop - list.clientHeight < AT_END_PX,
    };
  useLayoutEffect(() => {
    const shown = box.current;
    if (!shown) return;
    const { first, height, atEnd } = before.current;
    if (atEnd) shown.scrollTop = shown.scrollHeight;
    else if (said[0]?.id !== first) shown.scrollTop += shown.scrollHeight - height;
    before.current.first = said[0]?.id ?? "";
  }, [said.length, said[0]?.id, said.at(-1)?.id]);
  return box;
}
