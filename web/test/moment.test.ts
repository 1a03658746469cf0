import { expect, test } from "vitest";
import { stepAt } from "../src/drawer/moment";
import type { Step } from "../src/drawer/timelineSteps";
import { at } from "./assignment";

test("a moment is the newest step at it or before it", () => {
  const steps = [50, 40, 30].map((min) => ({ at: Date.parse(at(min)) }) as Step);
  expect(stepAt(steps, Date.parse(at(45)))).toBe(1);
  expect(stepAt(steps, Date.parse(at(40)))).toBe(1);
  expect(stepAt(steps, Date.parse(at(59)))).toBe(0);
  expect(stepAt(steps, Date.parse(at(10)))).toBe(2);
});
