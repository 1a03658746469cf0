/** The overview of the last hours: one row per session, coloured by state. */
import { computed, useSignal } from "@preact/signals";
import type { CSSProperties } from "preact";
import { useEffect } from "preact/hooks";
import { filter } from "../board/filter";
import type { FleetHistoryRow } from "../generated/FleetHistoryRow";
import { Search } from "../header/FilterBar";
import { now } from "../lib/clock";
import { clockTime, plural, roundedDuration } from "../lib/format";
import { groupBy } from "../lib/groupBy";
import { away } from "../lib/presence";
import { persistentSignal } from "../lib/storage";
import { Segmented } from "../ui/Button";
import { ActivityChart } from "./ActivityChart";
import { HistoryRow, type HoveredSpan } from "./HistoryRow";
import { followHistory, historyMissing, historyRows, loadHistory } from "./history";
import { Legend } from "./Legend";
import { axisTicks, summarise, type Window, waitedMs } from "./summary";

const HOUR = 3_600_000;
/** The range that the person chose. Until then the range is one hour if no state is older, else four hours. */
const chosenRange = persistentSignal<string | null>("overview-range", null);
const range = computed(
  () =>
    chosenRange.value ??
    (historyRows.value.every((row) => Date.now() - Date.parse(row.spans[0]?.from ?? "") < HOUR) ? "1" : "4"),
);
const order = persistentSignal<"project" | "waited">("overview-order", "project");

/** How often the chart advances. After a shorter time it would move by less than a pixel. */
const STEP_MS = 5_000;

const startOf = (chosen: string, end: number) =>
  chosen === "today" ? new Date(end).setHours(0, 0, 0, 0) : end - Number(chosen) * HOUR;
/** The start of the history to load: at least four hours, because the default range depends on them. */
const keptSince = (end: number) => Math.min(startOf(range.peek(), end), end - 4 * HOUR);

export function Overview() {
  const end = Math.ceil(now.value / STEP_MS) * STEP_MS;
  const start = startOf(range.value, end);
  const window: Window = { start, end };
  useEffect(() => void loadHistory(keptSince(end)), [range.value]);
  useEffect(() => followHistory(() => keptSince(Date.now())), []);
  const shown = historyRows.value.filter(
    (row) => inWindow(row, window) && matchesText(row, filter.value.text),
  );
  return (
    <>
      <div class="bar" role="search">
        <Search />
        <span class="push" />
        <Segmented
          name="Span"
          value={range.value}
          onChange={(value) => {
            chosenRange.value = value;
          }}
          choices={[
            { value: "1", label: "1 h" },
            { value: "4", label: "4 h" },
            { value: "12", label: "12 h" },
            { value: "today", label: "Today" },
          ]}
        />
        <Segmented
          name="Order"
          value={order.value}
          onChange={(value) => {
            order.value = value;
          }}
          choices={[
            { value: "project", label: "By project" },
            { value: "waited", label: "By time waited" },
          ]}
        />
      </div>
      <main class="over">
        <Sum rows={shown} window={window} />
        <HistoryGrid rows={shown} window={window} />
      </main>
    </>
  );
}

const inWindow = (row: FleetHistoryRow, { start }: Window) =>
  row.spans.some((s) => s.to === null || Date.parse(s.to) > start);
const matchesText = (row: FleetHistoryRow, text: string) =>
  `${row.title} ${row.project}`.toLowerCase().includes(text.trim().toLowerCase());

function Sum({ rows: all, window }: { rows: FleetHistoryRow[]; window: Window }) {
  const gone = away.value;
  const over = gone ? { start: gone.from, end: gone.to } : window;
  const { stopped, turns, failed, ended } = summarise(all, over);
  return (
    <div class="over-sum">
      <h1>{gone ? "While you were away" : "Overview"}</h1>
      <span>
        {clockTime(over.start)} to {clockTime(over.end)}, {roundedDuration(over.end - over.start)}
      </span>
      {stopped > 0 && (
        <span class="attn">
          <b>{stopped} stopped</b> and waited for you
        </span>
      )}
      {turns > 0 && (
        <span>
          <b>{plural(turns, "turn")}</b> finished
        </span>
      )}
      {failed > 0 && (
        <span class="fail">
          <b>{failed} failed</b>
        </span>
      )}
      {ended > 0 && (
        <span>
          <b>{ended} ended</b>
        </span>
      )}
      <Legend />
    </div>
  );
}

function HistoryGrid({ rows: found, window }: { rows: FleetHistoryRow[]; window: Window }) {
  const hovered = useSignal<HoveredSpan>(null);
  const all = useSignal(false);
  const total = found.reduce((sum, row) => sum + waitedMs(row, window), 0);
  const groups =
    order.value === "project"
      ? [...groupBy(found, (row) => row.project)].sort(([a], [b]) => a.localeCompare(b))
      : [
          ["", found.toSorted((a, b) => waitedMs(b, window) - waitedMs(a, window))] as [
            string,
            FleetHistoryRow[],
          ],
        ];
  const shownGroups = all.value ? groups : firstRows(groups, ROWS_FIRST);
  return (
    <div class="history-scroll" tabIndex={0} role="region" aria-label="States over time">
      <div class="history-grid">
        <div class="axis lbl">{plural(found.length, "session")}</div>
        <Axis window={window} />
        <div class="axis num">
          <span title="The sum of all times that the session waited for you">Waited, sum</span>
          <span>Cost</span>
        </div>
        <div class="sum-row">
          <span>
            All sessions: working, and <em>waiting for you</em>
          </span>
        </div>
        <div class="sum-row">
          <ActivityChart rows={found} window={window} />
        </div>
        <div class="sum-row num">
          <b class={total > 0 ? "attn" : undefined}>{roundedDuration(total)}</b>
          <br />
          <span class="dim" title="The times of sessions that waited at the same time are added up">
            summed over sessions, in {roundedDuration(window.end - window.start)}
          </span>
        </div>
        {shownGroups.map(([project, members]) => (
          <>
            {project && (
              <div class="lane-row" key={`p:${project}`}>
                <b class="clip" title={project}>
                  {project}
                </b>
                <span class="dim">{plural(members.length, "session")}</span>
              </div>
            )}
            {members.map((row) => (
              <HistoryRow key={row.id} row={row} window={window} hovered={hovered} />
            ))}
          </>
        ))}
        {found.length === 0 && (
          <p class="nothing">
            {historyMissing.value ? "The daemon could not load the history yet" : "No session in this time"}
          </p>
        )}
        {!all.value && found.length > ROWS_FIRST && (
          <button
            type="button"
            class="btn ghost more-rows"
            onClick={() => {
              all.value = true;
            }}
          >
            {found.length - ROWS_FIRST} more sessions
          </button>
        )}
        <Lines window={window} />
      </div>
    </div>
  );
}

/** Most rows that are drawn at first. */
const ROWS_FIRST = 200;

function firstRows(groups: [string, FleetHistoryRow[]][], most: number): [string, FleetHistoryRow[]][] {
  let left = most;
  return groups.flatMap(([name, members]) => {
    const taken = members.slice(0, left);
    left -= taken.length;
    return taken.length > 0 ? [[name, taken] as [string, FleetHistoryRow[]]] : [];
  });
}

const percent = (at: number, { start, end }: Window) => `${((at - start) / (end - start)) * 100}%`;

function Axis({ window }: { window: Window }) {
  return (
    <div class="axis">
      {axisTicks(window).map((t) => (
        <span key={t} style={{ "--at": percent(t, window) } as CSSProperties}>
          {clockTime(t)}
        </span>
      ))}
      <span class="end">{clockTime(window.end)} now</span>
    </div>
  );
}

function Lines({ window }: { window: Window }) {
  const gone = away.value;
  const from = gone && Math.max(gone.from, window.start);
  return (
    <div class="overlay" aria-hidden="true">
      {axisTicks(window).map((t) => (
        <i key={t} class="hour" style={{ left: percent(t, window) }} />
      ))}
      {gone && from !== null && gone.to > window.start && (
        <i
          class="away"
          style={{
            left: percent(from, window),
            width: `${((gone.to - from) / (window.end - window.start)) * 100}%`,
          }}
        />
      )}
    </div>
  );
}
