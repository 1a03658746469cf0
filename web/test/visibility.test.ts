import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { trackPresence } from "../src/lib/presence";
import { reportVisibility } from "../src/live/visibility";

const listeners = new Map<string, (() => void)[]>();
const happens = (name: string) => listeners.get(name)?.forEach((listener) => void listener());
const page = {
  visibilityState: "visible",
  hidden: false,
  hasFocus: () => false,
  addEventListener: (name: string, listener: () => void) =>
    void listeners.set(name, [...(listeners.get(name) ?? []), listener]),
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

/** What is on screen, and how often it was read. */
let onScreen = ["a"];
let reads = 0;

test("a page reports what is on screen: again and again, at once if it changes, and not while it is unused", async () => {
  const shows = (...sessions: string[]) => ({ visible: true, sessions });
  const hidden = { visible: false, sessions: [] };
  trackPresence();
  reportVisibility(() => {
    reads++;
    return onScreen;
  });
  expect(reports.length).toBe(1);
  expect(await reportsWithin(41_000)).toEqual([shows("a"), shows("a")]);
  onScreen = ["b", "a"];
  expect(await reportsWithin(600)).toEqual([shows("b", "a")]);

  // The page had no input, so it counts as not seen.
  const soon = await reportsWithin(4 * 60_000);
  expect(soon).toContainEqual(shows("b", "a"));
  expect(soon).not.toContainEqual(hidden);
  expect((await reportsWithin(60_000)).at(-1)).toEqual(hidden);
  reads = 0;
  expect(await reportsWithin(600_000)).toEqual([]);
  expect(reads).toBe(0);
  happens("pointermove");
  expect(await reportsWithin(600)).toEqual([shows("b", "a")]);

  page.visibilityState = "hidden";
  happens("visibilitychange");
  expect(reports.at(-1)).toMatchObject(hidden);
  expect(await reportsWithin(120_000)).toEqual([]);

  wanted = false;
  page.visibilityState = "visible";
  happens("visibilitychange");
  reads = 0;
  expect((await reportsWithin(121_000)).length).toBe(2);
  expect(reads).toBeLessThan(4);
});
