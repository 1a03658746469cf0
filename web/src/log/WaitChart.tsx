/** A chart of how long agents waited for the person: a row of bars per project, a bar per day. */
import type { Digest } from "../generated/Digest";
import { roundedDuration } from "../lib/format";
import { type Bar, BarChart } from "../ui/BarChart";
import { dayName, dayOf } from "./groups";
import { type WaitRow, type Waits, waitsOf } from "./waits";

/** `at` is the time that counts as today. */
export function WaitChart({ digest, at }: { digest: Digest; at: number }) {
  const waits = waitsOf(digest, at);
  return (
    <section class="waits" aria-label="How long agents waited for you">
      <h2>
        How long agents waited for you <span>minutes a day, last {waits.days.length} days</span>
      </h2>
      {waits.rows.length === 0 ? (
        <p class="dim">No agent had to wait.</p>
      ) : (
        <div class="wait-rows">
          <DayNames days={waits.days} />
          {waits.rows.map((row) => (
            <Row key={row.name} row={row} waits={waits} at={at} />
          ))}
        </div>
      )}
    </section>
  );
}

const shortDay = (day: string) =>
  new Date(`${day}T12:00:00`).toLocaleDateString("en-GB", { weekday: "short" });

function DayNames({ days }: { days: string[] }) {
  return (
    <>
      <span />
      <ol class="day-names" aria-hidden="true">
        {days.map((day, i) => (
          <li key={day}>{i === days.length - 1 ? "Today" : shortDay(day)}</li>
        ))}
      </ol>
      <span class="total" aria-hidden="true">
        Sum
      </span>
    </>
  );
}

function Row({ row, waits, at }: { row: WaitRow; waits: Waits; at: number }) {
  const total = roundedDuration(row.total * 1000);
  return (
    <>
      <span class="wait-name clip" title={row.name}>
        {row.name}
      </span>
      <BarChart
        name={`${row.name}: agents waited ${total} for you in ${waits.days.length} days`}
        most={waits.most}
        bars={row.seconds.map((seconds, i) => bar(seconds, waits.days[i] ?? "", at))}
      />
      <span class="total">{total}</span>
    </>
  );
}

function bar(seconds: number, day: string, at: number): Bar {
  const { name, date } = dayName(day, at);
  return {
    key: day,
    value: seconds,
    text: `${name}, ${date}: ${roundedDuration(seconds * 1000)}`,
    label: minutes(seconds),
    now: day === dayOf(at),
  };
}

/** 0 is a dot, so that the numbers stand out. */
const minutes = (seconds: number) =>
  seconds < 1 ? "·" : seconds < 60 ? "<1" : String(Math.round(seconds / 60));
