import { expect, test } from "vitest";
import type { HookStatus } from "../src/generated/HookStatus";
import { hookProblem } from "../src/live/hookProblem";

const hooks: HookStatus = {
  registered: ["Stop"],
  missing: [],
  stale: [],
  wanted: true,
  via: "shim",
  drift: false,
  problem: null,
  fix: null,
  simulated: false,
  program: "flightdeck",
  last_event_at: null,
  events_total: 0,
  by_event: {},
  spool: { files: 0, bytes: 0, dropped: 0 },
};

test("hook problems are distinguished and carry the daemon's fix", () => {
  const kind = (part: Partial<HookStatus>) => hookProblem({ ...hooks, ...part })?.kind ?? null;
  expect(kind({})).toBeNull();
  expect(kind({ wanted: false, registered: [], missing: ["Stop"] })).toBeNull();
  expect(kind({ registered: [], missing: ["Stop"] })).toBe("missing");
  expect(kind({ drift: true, missing: ["Stop"] })).toBe("drifted");
  expect(kind({ problem: "the file is no JSON", registered: [] })).toBe("broken");
  expect(
    hookProblem({
      ...hooks,
      drift: true,
      stale: ["Stop"],
      registered: ["SessionEnd"],
      fix: "flightdeck hooks repair",
    }),
  ).toMatchObject({ fix: "flightdeck hooks repair", text: expect.stringContaining("(Stop)") as string });
});
