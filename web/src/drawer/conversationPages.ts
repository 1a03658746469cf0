/**
 * The conversation of one session, from its transcript: the newest page at first, older pages on request. The
 * newest page is read again when the card says that the session went on.
 */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { ConversationMessage } from "../generated/ConversationMessage";
import type { ConversationPage } from "../generated/ConversationPage";
import type { Session } from "../generated/Session";
import { time } from "../lib/clock";
import { type Throttled, throttle } from "../lib/throttle";
import { getConversation } from "../live/api";

const PAGE = 60;
/** Most messages that the drawer keeps; `GET /api/sessions/{id}/conversation` has all of them. */
const MESSAGES_MAX = 20_000;
/** Most pages that one refresh reads to reach the messages that are shown; then it starts again. */
const CATCH_UP_PAGES_MAX = 10;
/** How often the conversation is read while the session is busy. */
const REFRESH_MS = 400;

/** Messages without a gap, oldest first, and the cursor of the page before them. */
export type Talk = { messages: ConversationMessage[]; before: number | null };

export type ConversationPages = {
  /** Null until it is loaded, and if there is no transcript. */
  talk: Talk | null;
  /** Why there is no transcript, or why it could not be read. */
  problem: string | null;
  /** Loads the page before the first message. Null if there is none. */
  loadOlder: (() => void) | null;
};

export function useConversation(session: Session): ConversationPages {
  const { id } = session;
  const talk = useSignal<Talk | null>(null);
  const problem = useSignal<string | null>(null);
  const refresh = useRef<Throttled | null>(null);
  const loadingOlder = useRef(false);
  const fail = (cause: unknown) => {
    problem.value = cause instanceof Error ? cause.message : String(cause);
  };
  useEffect(() => {
    const load = async () => {
      try {
        const page = await newest(id, talk.peek());
        problem.value = page.missing;
        talk.value = page.missing === null ? joined(talk.peek(), talkOf(page)) : null;
      } catch (cause) {
        fail(cause);
      }
    };
    refresh.current = throttle(load, REFRESH_MS);
    return () => refresh.current?.stop();
  }, []);
  useEffect(() => refresh.current?.request(), [newsOf(session)]);
  const before = talk.value?.before ?? null;
  const more = before !== null && (talk.value?.messages.length ?? 0) < MESSAGES_MAX;
  const loadOlder = async () => {
    if (before === null || loadingOlder.current) return;
    loadingOlder.current = true;
    try {
      talk.value = withOlder(talk.peek(), before, await getConversation(id, { before, limit: PAGE }));
    } catch (cause) {
      fail(cause);
      // The file may have been replaced, so that the cursor has no meaning.
      refresh.current?.request();
    } finally {
      loadingOlder.current = false;
    }
  };
  return { talk: talk.value, problem: problem.value, loadOlder: more ? () => void loadOlder() : null };
}

/** Changes with the card whenever the transcript may have grown: after an event, and after the daemon read it. */
export const newsOf = (s: Session): string =>
  [
    s.transcript_path,
    s.last_activity_at,
    s.agent_state.since,
    s.agent_state.label,
    s.turn_count,
    s.compactions,
    s.tokens?.output,
    s.context?.tokens,
    s.last_assistant_text,
    ...s.asks.map((ask) => ask.id + (ask.resolution === null)),
  ].join("\n");

const talkOf = ({ messages, next_before }: ConversationPage): Talk => ({ messages, before: next_before });

/** The newest page, and the pages before it until they reach what is shown. */
async function newest(id: string, shown: Talk | null): Promise<ConversationPage> {
  let page = await getConversation(id, { limit: PAGE });
  for (let pages = 1; pages < CATCH_UP_PAGES_MAX && page.next_before !== null; pages++) {
    if (shown === null || firstCommon(shown.messages, page.messages) !== -1) break;
    const older = await getConversation(id, { before: page.next_before, limit: PAGE });
    page = { ...older, messages: [...older.messages, ...page.messages] };
  }
  return page;
}

function firstCommon(shown: ConversationMessage[], newer: ConversationMessage[]): number {
  const ids = new Set(newer.map((message) => message.id));
  return shown.findIndex((message) => ids.has(message.id));
}

/** What is shown, with newer messages after it. Starts again with the newer messages if there is a gap between. */
export function joined(shown: Talk | null, newer: Talk): Talk {
  const common = firstCommon(shown?.messages ?? [], newer.messages);
  if (shown === null || common <= 0) return newer;
  return { messages: [...shown.messages.slice(0, common), ...newer.messages], before: shown.before };
}

/** What is shown, with an older page before it, unless it begins elsewhere by now. */
export function withOlder(shown: Talk | null, before: number, older: ConversationPage): Talk | null {
  if (shown === null || shown.before !== before) return shown;
  return { messages: [...older.messages, ...shown.messages], before: older.next_before };
}

/** A message as events have it: a prompt, or the last message of a turn. */
export type Said = { id: string; at: number; you: boolean; text: string };

/** Messages at the end of a transcript among which a message of an event is searched. */
const COMPARED_MESSAGES = 10;
/** Characters that are compared: both texts may be cut further on. */
const COMPARED_CHARS = 200;
const beginning = (text: string) => text.trim().replace(/\s+/g, " ").slice(0, COMPARED_CHARS);

/** The client writes its transcript a moment after its hooks. What only the events have so far. */
export function notYetWritten(messages: ConversationMessage[], said: Said[]): Said[] {
  const last = messages.findLast((message) => message.at !== null)?.at ?? null;
  const written = messages.slice(-COMPARED_MESSAGES).map((message) => beginning(message.text));
  return said.filter(
    ({ at, text }) => (last === null || at > time(last)) && !written.includes(beginning(text)),
  );
}
