/**
 * The data that only the drawer needs: the session's events, page by page, its explanation, and its numbers
 * over time.
 */
import { effect, type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { EventPage } from "../generated/EventPage";
import type { Explanation } from "../generated/Explanation";
import type { NumbersPoint } from "../generated/NumbersPoint";
import type { Session } from "../generated/Session";
import type { TimelineEvent } from "../generated/TimelineEvent";
import { time } from "../lib/clock";
import { openAt } from "../lib/route";
import { throttle } from "../lib/throttle";
import { getEvents, getExplanation, getNumbers, getSession } from "../live/api";
import { loaded, revision, sessionSignal } from "../live/store";

const PAGE = 500;
/** Most events that the drawer keeps; `GET /api/sessions/{id}/events` has all of them. */
const EVENTS_MAX = 20_000;
/** How often the drawer reloads while the session is busy. */
const FOLLOW_MS = 400;

export type DrawerData = {
  events: Signal<TimelineEvent[]>;
  explanation: Signal<Explanation | null>;
  error: Signal<string | null>;
  /** Loads the page before the first event. Null if there is none, while it is loaded, and at `EVENTS_MAX`. */
  loadOlder: Signal<(() => void) | null>;
};

/** Data of one session. A drawer is never reused for another session. */
export function useDrawerData(id: string): DrawerData {
  const events = useSignal<TimelineEvent[]>([]);
  const explanation = useSignal<Explanation | null>(null);
  const error = useSignal<string | null>(null);
  const loadOlder = useSignal<(() => void) | null>(null);
  useEffect(() => {
    const fail = (cause: unknown) => {
      error.value = cause instanceof Error ? cause.message : String(cause);
    };
    const older = (before: number | null | undefined) => {
      if (before == null || events.peek().length >= EVENTS_MAX) {
        loadOlder.value = null;
        return;
      }
      loadOlder.value = () => {
        loadOlder.value = null;
        getEvents(id, { before, limit: PAGE }).then((page) => {
          events.value = [...page.events, ...events.peek()];
          older(page.next_before);
        }, fail);
      };
    };
    const load = async () => {
      try {
        const [more, why] = await Promise.all([
          newEvents(id, events.peek()),
          getExplanation(id).catch(() => null),
        ]);
        const { found, before } = more;
        if (found.length > 0) events.value = [...events.peek(), ...found].slice(-EVENTS_MAX);
        // Set after the events: a list without events is at its top, and would load older ones at once.
        if (before !== undefined) older(before);
        explanation.value = why;
        error.value = null;
      } catch (cause) {
        fail(cause);
      }
    };
    const { request, stop } = throttle(load, FOLLOW_MS);
    const unfollow = effect(() => {
      // A link can open the drawer before the board is loaded: load again afterwards.
      void loaded.value;
      void sessionSignal(id)?.value;
      request();
    });
    return () => {
      unfollow();
      stop();
    };
  }, []);
  return { events, explanation, error, loadOlder };
}

/**
 * Without events so far: the newest page, and older ones back to the moment that the session was opened at; and in
 * `before` where the page before them ends (null if there is none). Otherwise only the events after the last one.
 */
async function newEvents(
  id: string,
  have: TimelineEvent[],
): Promise<{ found: TimelineEvent[]; before?: number | null }> {
  const last = have.at(-1)?.seq;
  if (last !== undefined) return { found: await eventsAfter(id, last) };
  let found: TimelineEvent[] = [];
  let before: number | null = Number.MAX_SAFE_INTEGER;
  const moment = openAt.peek();
  do {
    const page: EventPage = await getEvents(id, { before, limit: PAGE });
    found = [...page.events, ...found];
    before = page.next_before ?? null;
  } while (
    moment !== null &&
    before !== null &&
    found.length < EVENTS_MAX &&
    isLater(found[0], time(moment))
  );
  return { found, before };
}

const isLater = (event: TimelineEvent | undefined, at: number) =>
  event !== undefined && time(event.fired_at ?? event.received_at) > at;

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

/** Numbers are read again when the card's numbers change, at most this often. */
const NUMBERS_MS = 2_000;

/** Context and cost since the first message; empty if unknown. */
export function useNumbers({ id, cost, context }: Session): NumbersPoint[] {
  const points = useSignal<NumbersPoint[]>([]);
  const readAt = useSignal(0);
  const shown = useRef(id);
  shown.current = id;
  useEffect(() => {
    const read = () => {
      readAt.value = performance.now();
      // Keep a reply even if the card has newer numbers: for a busy session every reply is slightly old.
      getNumbers(id).then(
        (numbers) => {
          if (shown.current === id) points.value = numbers.points;
        },
        () => undefined,
      );
    };
    const timer = setTimeout(
      read,
      readAt.peek() === 0 ? 0 : Math.max(0, readAt.peek() + NUMBERS_MS - performance.now()),
    );
    return () => clearTimeout(timer);
  }, [id, cost?.usd_micros, cost?.client_usd_micros, context?.tokens]);
  return points.value;
}

/**
 * The live session, or a past one loaded by its id. Null while loading, undefined if the daemon does not know
 * it.
 */
export function useSession(id: string): Session | null | undefined {
  const stored = useSignal<Session | null | undefined>(null);
  const liveSignal = sessionSignal(id);
  // The session may appear with the next change; reading the revision redraws the drawer then.
  if (!liveSignal) void revision.value;
  const live = liveSignal?.value;
  useEffect(() => {
    if (live) return;
    getSession(id).then(
      (s) => {
        stored.value = s;
      },
      () => {
        stored.value = undefined;
      },
    );
  }, [id, live === undefined]);
  return live ?? stored.value;
}
