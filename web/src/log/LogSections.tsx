/** The rows of the log under their days and projects, with sums. */

import { MARK_MINUTES } from "../assignment/TwoTimes";
import type { Reading } from "../assignment/times";
import { plural, roundedDuration, usd } from "../lib/format";
import { dayName, type Group, type GroupOrder, type LogSection, type Sums, sections, sumsOf } from "./groups";
import { groupOrder } from "./LogBar";
import { LogRow } from "./LogRow";
import { nextBefore } from "./logData";

export function LogSections({ rows: found, at }: { rows: Reading[]; at: number }) {
  const order = groupOrder.value;
  const all = sections(found, order);
  return (
    <>
      {found.length > 0 && <Columns />}
      {all.map((section, i) => (
        <LogSectionView
          key={section.key}
          section={section}
          order={order}
          at={at}
          // The older assignments of the last day are on the next page.
          isPart={i === all.length - 1 && order === "day" && nextBefore.value !== null}
        />
      ))}
    </>
  );
}

const Columns = () => (
  <div class="log-cols" aria-hidden="true">
    <span>When</span>
    <span>What was asked, and the result</span>
    <span>Outcome</span>
    <span class="r">Turns</span>
    <span class="times-legend">
      <i class="w" /> Worked <i class="p" /> Waited for you
      <span class="scale">one mark is {MARK_MINUTES} min</span>
    </span>
    <span class="r">Cost</span>
    <span>Seat</span>
  </div>
);

type LogSectionProps = { section: LogSection; order: GroupOrder; at: number; isPart: boolean };

function LogSectionView({ section, order, at, isPart }: LogSectionProps) {
  const sums = sumsOf(section.rows, at);
  const day = order === "day" ? dayName(section.key, at) : null;
  return (
    <section class="log-section" aria-label={day ? `${day.name}, ${day.date}` : section.key}>
      <h2>
        {day?.name ?? section.key}
        <span>
          {day && `${day.date}, `}
          <SumsText sums={sums} isPart={isPart} />
        </span>
      </h2>
      {section.parts.map((part) => (
        <Part key={part.key} part={part} order={order} at={at} />
      ))}
    </section>
  );
}

function Part({ part, order, at }: { part: Group; order: GroupOrder; at: number }) {
  const day = order === "project" ? dayName(part.key, at) : null;
  return (
    <>
      <h3>
        {day ? `${day.name}, ${day.date}` : part.key}
        <span>
          <SumsText sums={sumsOf(part.rows, at)} />
        </span>
      </h3>
      {part.rows.map((row) => (
        <LogRow key={row.assignment.id} row={row} />
      ))}
    </>
  );
}

function SumsText({ sums, isPart = false }: { sums: Sums; isPart?: boolean }) {
  return (
    <>
      {plural(sums.assignments, "assignment")}
      {isPart && " so far"}, worked {roundedDuration(sums.workingMs)}
      {sums.waitingMs >= 1000 && (
        <>
          , <em>waited {roundedDuration(sums.waitingMs)} for you</em>
        </>
      )}
      {sums.usdMicros > 0 && `, ${usd(sums.usdMicros)}`}
    </>
  );
}
