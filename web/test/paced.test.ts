import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { paced } from "../src/lib/paced";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const EVERY_MS = 400;

/** Runs that take their time, each noted with when it began. */
function runs(takesMs: number): { began: number[]; ended: number; run: () => Promise<void> } {
  const start = performance.now();
  const seen = { began: [] as number[], ended: 0, run: async () => {
    // To ten milliseconds: a timer of nothing takes one.
    seen.began.push(Math.round((performance.now() - start) / 10) * 10);
    await new Promise((done) => setTimeout(done, takesMs));
    seen.ended++;
  } };
  return seen;
}

async function wantEvery(ms: number, times: number, want: () => void): Promise<void> {
  for (let i = 0; i < times; i++) {
    want();
    await vi.advanceTimersByTimeAsync(ms);
  }
}

test("wishes that never pause delay no run, and all of them are followed by one", async () => {
  const seen = runs(10);
  const { want } = paced(seen.run, EVERY_MS);
  await wantEvery(100, 11, want);
  expect(seen.began).toEqual([0, 400, 800]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(seen.began).toEqual([0, 400, 800, 1_200]);
});

test("a slow run is let to its end, alone, and then comes the next", async () => {
  const seen = runs(1_500);
  const { want } = paced(seen.run, EVERY_MS);
  await wantEvery(100, 14, want);
  expect([seen.began, seen.ended]).toEqual([[0], 0]);
  await vi.advanceTimersByTimeAsync(200);
  expect([seen.began, seen.ended]).toEqual([[0, 1_500], 1]);
});

test("what was stopped does not run", async () => {
  const seen = runs(100);
  const { want, stop } = paced(seen.run, EVERY_MS);
  await wantEvery(50, 1, want);
  want();
  stop();
  await vi.advanceTimersByTimeAsync(5_000);
  expect([seen.began, seen.ended]).toEqual([[0], 1]);
});
