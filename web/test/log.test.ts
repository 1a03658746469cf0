import { expect, test } from "vitest";
import { withChangedAssignments, withPage } from "../src/log/entries";
import { type LogFilter, matchesLogFilter, NO_LOG_FILTER, periodStart, queryOf } from "../src/log/filter";
import { dayName, dayOf, sections, sumsOf } from "../src/log/groups";
import { assignment, at } from "./assignment";

const NOW = Date.parse(at(30));
const filter = (part: Partial<LogFilter>): LogFilter => ({ ...NO_LOG_FILTER, ...part });
const ids = (rows: { assignment: { id: string } }[]) => rows.map((row) => row.assignment.id);
const row = (...args: Parameters<typeof assignment>) => ({ assignment: assignment(...args), readAt: NOW });

test("days have their projects, and projects have their days", () => {
  const yesterday = new Date(2026, 10, 17, 9).toISOString();
  const rows = [
    row({ id: "3", project: "web", opened_at: at(20) }),
    row({ id: "2", project: "api", opened_at: at(10) }),
    row({ id: "1", project: "web", opened_at: yesterday }),
  ];
  const outline = (order: "day" | "project") =>
    sections(rows, order).map(({ key, parts }) => [key, parts.map((part) => [part.key, ids(part.rows)])]);
  expect(outline("day")).toEqual([
    [
      "2026-11-18",
      [
        ["web", ["3"]],
        ["api", ["2"]],
      ],
    ],
    ["2026-11-17", [["web", ["1"]]]],
  ]);
  expect(outline("project")).toEqual([
    ["api", [["2026-11-18", ["2"]]]],
    [
      "web",
      [
        ["2026-11-18", ["3"]],
        ["2026-11-17", ["1"]],
      ],
    ],
  ]);
});

test("a day is named as a person would", () => {
  expect(dayName(dayOf(NOW), NOW)).toEqual({ name: "Today", date: "18 November" });
  expect(dayName("2026-11-17", NOW)).toEqual({ name: "Yesterday", date: "17 November" });
  expect(dayName("2026-11-16", NOW)).toEqual({ name: "Monday", date: "16 November" });
  expect(dayName("2025-12-31", NOW)).toEqual({ name: "Wednesday", date: "31 December 2025" });
});

test("sums count on while an assignment is open", () => {
  const cost = { usd_micros: 500_000, unpriced_models: [] };
  const rows = [
    row({ id: "2", state: "awaiting_input", working_seconds: 60, waiting_seconds: 30 }),
    row({ id: "1", completed_at: at(9), working_seconds: 100, waiting_seconds: 5, cost }),
  ];
  expect(sumsOf(rows, NOW + 10_000)).toEqual({
    assignments: 2,
    workingMs: 160_000,
    waitingMs: 45_000,
    usdMicros: 500_000,
  });
});

test("every word of the search must be found, in what was asked or in the result", () => {
  const one = assignment({
    title: "Drop the old column",
    last_message: "Both migrations pass",
    project: "billing",
  });
  for (const text of ["", "  ", "drop column", "MIGRATIONS billing"])
    expect(matchesLogFilter(one, filter({ text }), NOW), text).toBe(true);
  for (const text of ["drop table", "infra"])
    expect(matchesLogFilter(one, filter({ text }), NOW), text).toBe(false);
});

test("a filter asks the daemon for what it can filter, and the page filters the rest", () => {
  expect(queryOf(filter({ period: "all" }), NOW)).toEqual({});
  expect(queryOf(filter({ period: "all", text: " drop column " }), NOW)).toEqual({ text: "drop column" });
  expect(queryOf(filter({ project: "api", outcome: "died", period: "today" }), NOW)).toEqual({
    project: "api",
    state: "complete",
    since: new Date(2026, 10, 18).toISOString(),
  });
  const died = assignment({ completed_at: at(1), outcome: "died" });
  const waits = assignment({ state: "awaiting_input" });
  expect([died, waits].map((a) => matchesLogFilter(a, filter({ outcome: "died" }), NOW))).toEqual([
    true,
    false,
  ]);
  expect([died, waits].map((a) => matchesLogFilter(a, filter({ outcome: "waiting" }), NOW))).toEqual([
    false,
    true,
  ]);
  expect([died, waits].map((a) => matchesLogFilter(a, filter({ outcome: "working" }), NOW))).toEqual([
    false,
    false,
  ]);
});

test("a period begins at midnight, and an open assignment is in every period", () => {
  expect(periodStart("week", NOW)).toBe(new Date(2026, 10, 12).getTime());
  const old = new Date(2026, 10, 11, 23).toISOString();
  expect(matchesLogFilter(assignment({ opened_at: old, completed_at: old }), filter({}), NOW)).toBe(false);
  expect(matchesLogFilter(assignment({ opened_at: old }), filter({}), NOW)).toBe(true);
});

test("pages are put together newest first, without doubles", () => {
  const first = withPage(
    [],
    [assignment({ id: "3", opened_at: at(3) }), assignment({ id: "2", opened_at: at(2) })],
    NOW,
  );
  const both = withPage(
    first,
    [assignment({ id: "2", opened_at: at(2) }), assignment({ id: "1", opened_at: at(1) })],
    NOW,
  );
  expect(ids(both)).toEqual(["3", "2", "1"]);
});

test("a live change replaces its row and keeps the known cost", () => {
  const cost = { usd_micros: 7, unpriced_models: [] };
  const rows = withPage([], [assignment({ id: "1", cost })], NOW);
  const [changed] = withChangedAssignments(
    rows,
    [assignment({ id: "1", completed_at: at(2) })],
    NOW + 5,
    false,
  );
  expect(changed).toMatchObject({ readAt: NOW + 5, assignment: { state: "complete", cost } });
});

test("a change of an assignment that is on a later page waits for its page", () => {
  const rows = withPage([], [assignment({ id: "5", opened_at: at(5) })], NOW);
  const old = assignment({ id: "1", opened_at: at(1) });
  const fresh = assignment({ id: "6", opened_at: at(6) });
  expect(ids(withChangedAssignments(rows, [old, fresh], NOW, true))).toEqual(["6", "5"]);
  expect(ids(withChangedAssignments(rows, [old, fresh], NOW, false))).toEqual(["6", "5", "1"]);
});
