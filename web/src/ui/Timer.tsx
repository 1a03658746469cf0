/** Ticking times. Each is a text node bound to the clock, so a tick redraws no card. */
import { useComputed, useSignal } from "@preact/signals";
import { now, time } from "../lib/clock";
import { ago, clockTime, duration } from "../lib/format";

function useTicking(iso: string, text: (sinceMs: number) => string) {
  const at = useSignal(iso);
  at.value = iso;
  return useComputed(() => text(now.value - time(at.value)));
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

export function Ago({ at }: { at: string }) {
  const text = useTicking(at, ago);
  return (
    <time dateTime={at} title={clockTime(time(at), true)}>
      {text}
    </time>
  );
}
