import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { throttle } from "../src/lib/throttle";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const EVERY_MS = 400;

/** A slow run that records when each run started. */
function runs(takesMs: number): { began: number[]; ended: number; run: () => Promise<void> } {
  const start = performance.now();
  const seen = {
    began: [] as number[],
    ended: 0,
    run: async () => {
      // Rounded to ten milliseconds, because a timer of zero takes one.
      seen.began.push(Math.round((performance.now() - start) / 10) * 10);
      await new Promise((done) => setTimeout(done, takesMs));
      seen.ended++;
    },
  };
  return seen;
}

async function wantEvery(ms: number, times: number, request: () => void): Promise<void> {
  for (let i = 0; i < times; i++) {
    request();
    await vi.advanceTimersByTimeAsync(ms);
  }
}

test("constant requests do not delay a run, and a last run serves all of them", async () => {
  const seen = runs(10);
  const { request } = throttle(seen.run, EVERY_MS);
  await wantEvery(100, 11, request);
  expect(seen.began).toEqual([0, 400, 800]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(seen.began).toEqual([0, 400, 800, 1_200]);
});

test("a slow run finishes before the next one starts", async () => {
  const seen = runs(1_500);
  const { request } = throttle(seen.run, EVERY_MS);
  await wantEvery(100, 14, request);
  expect([seen.began, seen.ended]).toEqual([[0], 0]);
  await vi.advanceTimersByTimeAsync(200);
  expect([seen.began, seen.ended]).toEqual([[0, 1_500], 1]);
});

test("a stopped request does not run", async () => {
  const seen = runs(100);
  const { request, stop } = throttle(seen.run, EVERY_MS);
  await wantEvery(50, 1, request);
  request();
  stop();
  await vi.advanceTimersByTimeAsync(5_000);
  expect([seen.began, seen.ended]).toEqual([[0], 1]);
});
