import { expect, test } from "vitest";
import { isWorthShowing, partsOf } from "../src/digest/headline";
import { absence } from "../src/lib/presence";
import { assignment, at } from "./assignment";
import { digest } from "./digest";

const MINUTE = 60_000;

test("a person came back if the page was last used more than 30 minutes ago", () => {
  const now = Date.parse(at(0));
  const after = (minutes: number) => absence(now - minutes * MINUTE, now, 30 * MINUTE);
  expect(after(29)).toBeNull();
  expect(after(30)).toBeNull();
  expect(after(31)).toEqual({ from: now - 31 * MINUTE, to: now });
});

test("a browser that never showed the page was not away", () => {
  expect(absence(0, Date.parse(at(0)), 30 * MINUTE)).toBeNull();
});

test("a digest is shown if something was completed or waits, not if agents only worked", () => {
  expect(isWorthShowing(digest({ sums: { working: 3, working_seconds: 900 } }))).toBe(false);
  for (const sums of [{ completed: 1 }, { ended: 1 }, { died: 1 }, { waiting: 1 }])
    expect(isWorthShowing(digest({ sums }))).toBe(true);
});

test("the first line names a failed turn as what it is", () => {
  const failed = assignment({ state: "awaiting_input", reason: "failed" });
  const found = digest({ sums: { completed: 14, waiting: 3, died: 1 }, waiting: [failed] });
  expect(partsOf(found).map(({ text }) => text)).toEqual([
    "14 completed",
    "2 wait for you",
    "1 failed",
    "1 died",
  ]);
  expect(partsOf(digest())[0]?.text).toBe("Nothing was completed, and nothing waits for you");
});
