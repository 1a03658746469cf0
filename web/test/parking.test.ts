import { expect, test } from "vitest";
import { parkedUntil } from "../src/card/parking";

test("an hour is an hour, and tomorrow begins at eight in the morning", () => {
  const evening = new Date(2026, 10, 30, 23, 30);
  expect(parkedUntil("event", evening)).toBeNull();
  expect(parkedUntil("hour", evening)).toEqual(new Date(2026, 11, 1, 0, 30));
  expect(parkedUntil("tomorrow", evening)).toEqual(new Date(2026, 11, 1, 8, 0));
});
