/** The numbers of a context window over time, from the numbers of its session. */
import { effect, type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Effort } from "../generated/Effort";
import type { NumbersPoint } from "../generated/NumbersPoint";
import type { WindowCard } from "../generated/WindowCard";
import { time } from "../lib/clock";
import { throttle } from "../lib/throttle";
import { getNumbers } from "../live/api";
import { sessionSignal } from "../live/store";
import { mainWindows, openWindow } from "./current";

/** Sessions whose numbers are read: those of the newest windows. */
const SESSIONS_MAX = 12;
const READ_MS = 5_000;

/** Both from 0 to 100. */
export type CurvePoint = { x: number; y: number };

const isWithin = ({ started_at, ended_at }: WindowCard, at: number) =>
  at >= time(started_at) && (ended_at === null || at <= time(ended_at));

/**
 * How the context filled. The numbers are tokens; the percentage at the end gives their scale. Empty if too little is
 * known for a curve.
 */
export function curveOf(
  window: WindowCard,
  percent: number | null,
  points: NumbersPoint[],
  now: number,
): CurvePoint[] {
  const known = points.flatMap(({ at, context_tokens: tokens }) =>
    tokens !== null && isWithin(window, time(at)) ? [{ at: time(at), tokens }] : [],
  );
  const last = known.at(-1);
  if (!last || known.length < 2 || percent === null || last.tokens === 0) return [];
  const start = time(window.started_at);
  const lasts = Math.max(1, (window.ended_at === null ? now : time(window.ended_at)) - start);
  return known.map(({ at, tokens }) => ({
    x: Math.min(100, ((at - start) / lasts) * 100),
    y: Math.min(100, (tokens / last.tokens) * percent),
  }));
}

/** What a session cost during a window; null if that is not known. Each point has the cost of the session so far. */
export function costOf(window: WindowCard, points: NumbersPoint[]): number | null {
  const priced = points.flatMap(({ at, usd_micros: usd }) => (usd === null ? [] : [{ at: time(at), usd }]));
  const last = priced.findLast(({ at }) => isWithin(window, at));
  if (!last) return null;
  const before = priced.findLast(({ at }) => at < time(window.started_at));
  return Math.max(0, last.usd - (before?.usd ?? 0));
}

/** The numbers of the sessions of an effort, by session. They are read again while the open window changes. */
export function useWindowNumbers(effort: Effort): Map<string, NumbersPoint[]> {
  const numbers: Signal<Map<string, NumbersPoint[]>> = useSignal(new Map());
  const sessions = [...new Set(mainWindows(effort).map((window) => window.session_id))].slice(-SESSIONS_MAX);
  const live = openWindow(effort)?.session_id ?? null;
  useEffect(() => {
    const read = async (ids: string[]) => {
      const found = await Promise.all(
        // A window whose numbers are not known has no curve.
        ids.map((id) =>
          getNumbers(id).then(
            ({ points }) => [id, points] as const,
            () => null,
          ),
        ),
      );
      numbers.value = new Map([...numbers.peek(), ...found.filter((one) => one !== null)]);
    };
    void read(sessions);
    const { request, stop } = throttle(() => read(live === null ? [] : [live]), READ_MS);
    const unfollow = effect(() => {
      void (live === null ? undefined : sessionSignal(live)?.value.context?.tokens);
      request();
    });
    return () => {
      unfollow();
      stop();
    };
  }, [sessions.join(" "), live]);
  return numbers.value;
}
