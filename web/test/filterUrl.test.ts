import { expect, test } from "vitest";
import { boardFilterInQuery } from "../src/board/filterUrl";
import { type EffortFilter, NO_EFFORT_FILTER } from "../src/efforts/filter";
import { effortFilterInQuery } from "../src/efforts/filterUrl";
import { type LogFilter, NO_LOG_FILTER } from "../src/log/filter";
import { logFilterInQuery } from "../src/log/filterUrl";

test("a filter survives the way through the address, beside other parameters", () => {
  const filter = {
    text: "cargo test",
    host: [],
    project: ["api", "a&b"],
    branch: [],
    state: ["idle"],
    model: [],
  };
  const { from, into } = boardFilterInQuery;
  const search = into("?theme=light&q=old", filter);
  expect(search).toContain("theme=light");
  expect(from(search)).toEqual(filter);
  expect(into(search, from(""))).toBe("?theme=light");
});

test("the filters of the log and of the efforts have parameters of their own", () => {
  const log: LogFilter = { text: "integers", project: "a&b", outcome: "died", period: "all" };
  const efforts: EffortFilter = { text: "totals", project: "api", skill: "ship", which: "active" };
  const search = effortFilterInQuery.into(logFilterInQuery.into("?q=board&project=web", log), efforts);
  expect(logFilterInQuery.from(search)).toEqual(log);
  expect(effortFilterInQuery.from(search)).toEqual(efforts);
  expect(boardFilterInQuery.from(search)).toMatchObject({ text: "board", project: ["web"] });
  const cleared = effortFilterInQuery.into(logFilterInQuery.into(search, NO_LOG_FILTER), NO_EFFORT_FILTER);
  expect(cleared).toBe("?q=board&project=web");
});

test("an address with unknown choices has the usual filter", () => {
  expect(logFilterInQuery.from("?log.outcome=lost&log.since=ever&log.project=")).toEqual(NO_LOG_FILTER);
  expect(effortFilterInQuery.from("?efforts.which=some")).toEqual(NO_EFFORT_FILTER);
});
