//! What the drawer asks for besides the session itself: its events, page by page, why it is where it is, and its numbers
//! over time.
import { effect, useSignal, type Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Session } from "../generated/Session";
import type { EventPage } from "../generated/EventPage";
import type { Explanation } from "../generated/Explanation";
import type { NumbersPoint } from "../generated/NumbersPoint";
import type { TimelineEvent } from "../generated/TimelineEvent";
import { paced } from "../lib/paced";
import { getEvents, getExplanation, getNumbers, getSession } from "../live/api";
import { loaded, revision, sessionSignal } from "../live/store";

const PAGE = 500;
/** A drawer shows the newest of these; the whole log is behind `GET /api/sessions/{id}/events`. */
const EVENTS_MAX = 2_000;
/** While a session is busy the drawer follows it this often. */
const FOLLOW_MS = 400;

export type DrawerData = { events: Signal<TimelineEvent[]>; explanation: Signal<Explanation | null>; error: Signal<string | null> };

/** Of one session for good: a drawer of another is another drawer. */
export function useDrawerData(id: string): DrawerData {
  const events = useSignal<TimelineEvent[]>([]);
  const explanation = useSignal<Explanation | null>(null);
  const error = useSignal<string | null>(null);
  useEffect(() => {
    const load = async () => {
      try {
        const [more, why] = await Promise.all([newEvents(id, events.peek()), getExplanation(id).catch(() => null)]);
        if (more.length > 0) events.value = [...events.peek(), ...more].slice(-EVENTS_MAX);
        explanation.value = why;
        error.value = null;
      } catch (cause) {
        error.value = cause instanceof Error ? cause.message : String(cause);
      }
    };
    const { want, stop } = paced(load, FOLLOW_MS);
    const unfollow = effect(() => {
      // A deep link opens the drawer before the board is known: look again once it is.
      void loaded.value;
      void sessionSignal(id)?.value;
      want();
    });
    return () => {
      unfollow();
      stop();
    };
  }, []);
  return { events, explanation, error };
}

/** First the newest, back as far as a drawer shows; then what came since. */
async function newEvents(id: string, have: TimelineEvent[]): Promise<TimelineEvent[]> {
  const last = have.at(-1)?.seq;
  return last === undefined ? newestEvents(id) : eventsAfter(id, last);
}

async function newestEvents(id: string): Promise<TimelineEvent[]> {
  let found: TimelineEvent[] = [];
  let before: number | null = Number.MAX_SAFE_INTEGER;
  while (before !== null && found.length < EVENTS_MAX) {
    const page: EventPage = await getEvents(id, { before, limit: PAGE });
    found = [...page.events, ...found];
    before = page.next_before ?? null;
  }
  return found;
}

async function eventsAfter(id: string, last: number): Promise<TimelineEvent[]> {
  let found: TimelineEvent[] = [];
  let after: number | null = last;
  while (after !== null) {
    const page: EventPage = await getEvents(id, { after, limit: PAGE });
    found = [...found, ...page.events].slice(-EVENTS_MAX);
    after = page.next_after ?? null;
  }
  return found;
}

/** Read again when the card shows others than the last time, and at most this often. */
const NUMBERS_MS = 2_000;

/** Context and cost since its first message; nothing where nobody knows them. */
export function useNumbers({ id, cost, context }: Session): NumbersPoint[] {
  const points = useSignal<NumbersPoint[]>([]);
  const readAt = useSignal(0);
  const shown = useRef(id);
  shown.current = id;
  useEffect(() => {
    const read = () => {
      readAt.value = performance.now();
      // A newer number on the card makes the answer older, not wrong: a busy session would never get one else.
      getNumbers(id).then((numbers) => { if (shown.current === id) points.value = numbers.points; }, () => undefined);
    };
    const timer = setTimeout(read, readAt.peek() === 0 ? 0 : Math.max(0, readAt.peek() + NUMBERS_MS - performance.now()));
    return () => clearTimeout(timer);
  }, [id, cost?.usd_micros, cost?.client_usd_micros, context?.tokens]);
  return points.value;
}

/** The live session, or a stored one by its link; null while it is looked for, undefined if nobody knows it. */
export function useSession(id: string): Session | null | undefined {
  const stored = useSignal<Session | null | undefined>(null);
  const held = sessionSignal(id);
  // One the page does not know yet may come with the next change; until then nothing else would draw this again.
  if (!held) void revision.value;
  const live = held?.value;
  useEffect(() => {
    if (live) return;
    getSession(id).then((s) => { stored.value = s; }, () => { stored.value = undefined; });
  }, [id, live === undefined]);
  return live ?? stored.value;
}
