import { expect, test } from "vitest";
import { waitsOf } from "../src/log/waits";
import { at } from "./assignment";
import { digest, NONE } from "./digest";

const project = (name: string, days: [string, number][]) => ({
  project: name,
  sums: NONE,
  days: days.map(([day, waiting_seconds]) => ({ day, assignments: 1, working_seconds: 0, waiting_seconds })),
});

test("waits are a row per project and a number per day, all projects first", () => {
  const now = Date.parse(at(0));
  const waits = waitsOf(
    digest({
      projects: [
        project("api", [["2026-11-18", 60]]),
        project("web", [
          ["2026-11-12", 30],
          ["2026-11-18", 240],
          ["2026-11-01", 999],
        ]),
        project("calm", [["2026-11-18", 0]]),
      ],
    }),
    now,
  );
  expect(waits.days).toHaveLength(7);
  expect(waits.rows.map(({ name, seconds, total }) => [name, seconds[0], seconds[6], total])).toEqual([
    ["All projects", 30, 300, 330],
    ["web", 30, 240, 270],
    ["api", 0, 60, 60],
  ]);
  expect(waits.most).toBe(300);
});

test("many projects share a row", () => {
  const many = Array.from({ length: 9 }, (_, i) => project(`p${i}`, [["2026-11-18", 10 + i]]));
  const waits = waitsOf(digest({ projects: many }), Date.parse(at(0)));
  expect(waits.rows.map(({ name }) => name)).toEqual([
    "All projects",
    "p8",
    "p7",
    "p6",
    "p5",
    "p4",
    "4 others",
  ]);
});
