/** Ticking times. Each is a text node bound to the clock, so a tick redraws no card. */
import { type ReadonlySignal, useComputed, useSignal } from "@preact/signals";
import { now, time, wallNow } from "../lib/clock";
import { ago, clockTime, duration } from "../lib/format";

function useTicking(iso: string, text: (sinceMs: number) => string, clock: ReadonlySignal<number> = now) {
  const at = useSignal(iso);
  at.value = iso;
  return useComputed(() => text(clock.value - time(at.value)));
}

const full = (iso: string) => `since ${clockTime(time(iso), true)}`;

/** Time since: 3:55. */
export function Elapsed({ since, class: cls }: { since: string; class?: string }) {
  const text = useTicking(since, duration);
  return (
    <time class={cls} dateTime={since} title={full(since)}>
      {text}
    </time>
  );
}

/** Time until: 5:40, then 0:00. */
export function Remaining({ until }: { until: string }) {
  const text = useTicking(until, (past) => duration(-past));
  return <time dateTime={until}>{text}</time>;
}

/** Time until something that the page does itself: it also runs without a connection. */
export function Countdown({ until }: { until: number }) {
  const iso = new Date(until + 999).toISOString();
  const text = useTicking(iso, (past) => duration(-past), wallNow);
  return <time dateTime={iso}>{text}</time>;
}

/** How long the page has done something: it also runs without a connection. */
export function Lasting({ since }: { since: number }) {
  const iso = new Date(since).toISOString();
  const text = useTicking(iso, duration, wallNow);
  return <time dateTime={iso}>{text}</time>;
}

export function Ago({ at }: { at: string }) {
  const text = useTicking(at, ago);
  return (
    <time dateTime={at} title={clockTime(time(at), true)}>
      {text}
    </time>
  );
}
