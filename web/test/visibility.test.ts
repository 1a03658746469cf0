import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { filter } from "../src/board/filter";
import { applyChanges } from "../src/live/store";
import { reportVisibility } from "../src/live/visibility";
import { session } from "./session";

const listeners = new Map<string, () => void>();
const page = {
  visibilityState: "visible",
  addEventListener: (name: string, listener: () => void) => listeners.set(name, listener),
};
let wanted = true;
let reports: { visible: boolean; sessions: string[] | null }[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("document", page);
  vi.stubGlobal("addEventListener", page.addEventListener);
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    reports.push(JSON.parse(String(init.body)));
    return new Response(JSON.stringify({ wanted }), { headers: { "content-type": "application/json" } });
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** What the page reports while this time passes. */
async function reportsWithin(ms: number) {
  reports = [];
  await vi.advanceTimersByTimeAsync(ms);
  return reports.map(({ visible, sessions }) => ({ visible, sessions }));
}

test("a page reports what it shows, again and again while it is visible", async () => {
  const all = { visible: true, sessions: null };
  reportVisibility();
  expect(reports.length).toBe(1);
  expect(await reportsWithin(41_000)).toEqual([all, all]);

  const put = (id: string, title: string) =>
    applyChanges([{ kind: "session", session: session({ id, title }), discovered: false }]);
  put("a", "one");
  put("b", "two");
  filter.value = { ...filter.value, text: "two" };
  expect(reports.at(-1)).toMatchObject({ visible: true, sessions: ["b"] });

  page.visibilityState = "hidden";
  listeners.get("visibilitychange")?.();
  expect(reports.at(-1)?.visible).toBe(false);
  expect(await reportsWithin(120_000)).toEqual([]);

  wanted = false;
  page.visibilityState = "visible";
  listeners.get("visibilitychange")?.();
  expect((await reportsWithin(61_000)).length).toBe(1);
});
