/**
 * A large busy fleet on a real daemon. `cargo xtask bench page` runs this for a minute and compares the
 * measured times (`LOAD_RESULT`) with the promised ones, which needs an idle machine. The short run in the
 * daily tests checks only what does not depend on time.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { BusyFleet } from "./busyFleet";
import { COLUMNS, expect, test, wantedIn } from "./fleet";
import { servePage } from "./servePage";

// Tracing would cause most of the load.
test.use({ trace: "off", screenshot: "off" });
test.describe.configure({ mode: "serial" });

const SECONDS = Number(process.env.LOAD_SECONDS ?? 12);
const SESSIONS = 1000;
/** Most cards in the DOM at a time. */
const DRAWN_MAX = 300;
/**
 * A turn of six hooks makes about eight changes, because an ask opens and closes too: 200 changes a second in
 * total.
 */
const HOOKS_PER_SECOND = 150;
/** Well above normal use. More means that the page leaks memory. */
const HEAP_GROWS_MAX_MB = 15;

/** The daemon keeps a resolved ask for a minute, so the fleet and the page grow until then. */
const FLEET_GROWS_MS = 65_000;
/** The first seconds after opening are not measured. */
const WARM_MS = process.env.LOAD_RESULT ? FLEET_GROWS_MS : 3_000;

type Series = { name: string; unit: string; samples: number[] };

function tell(series: Series[]): void {
  for (const { name, unit, samples } of series)
    if (samples.length < 10) console.log(`${name}: ${samples.map((s) => s.toFixed(1)).join(", ")} ${unit}`);
  const path = process.env.LOAD_RESULT;
  if (!path) return;
  const before = existsSync(path)
    ? (JSON.parse(readFileSync(path, "utf8")) as { series: Series[] }).series
    : [];
  writeFileSync(path, JSON.stringify({ row: "page", series: [...before, ...series] }));
}

function percentile(samples: number[], part: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * part)] ?? 0;
}

test("1,000 sessions at 200 changes a second: only cards near the visible area are drawn, and the result matches the API", async ({
  fleet,
  page,
}) => {
  test.setTimeout((SECONDS + 180) * 1000);
  const busy = new BusyFleet(fleet.server.url, SESSIONS);
  await busy.begin();
  const cdp = await page.context().newCDPSession(page);
  const heap = async () => {
    await cdp.send("HeapProfiler.collectGarbage");
    return ((await cdp.send("Runtime.getHeapUsage")) as { usedSize: number }).usedSize / 1e6;
  };
  await fleet.open();
  const stop = new AbortController();
  const playing = busy.play(HOOKS_PER_SECOND, stop.signal);
  await page.waitForTimeout(WARM_MS);
  expect(await page.locator("[data-card]").count()).toBeLessThan(DRAWN_MAX);
  const heapBefore = await heap();
  const [changesBefore, began] = [(await fleet.board()).n, performance.now()];
  const { frames, tasks } = await page.evaluate(async (ms) => {
    const out: { frames: number[]; tasks: number[] } = { frames: [], tasks: [] };
    new PerformanceObserver((list) => out.tasks.push(...list.getEntries().map((e) => e.duration))).observe({
      type: "longtask",
    });
    let last = performance.now();
    const end = last + ms;
    await new Promise<void>((done) => {
      const frame = (at: number) => {
        out.frames.push(at - last);
        last = at;
        if (at < end) requestAnimationFrame(frame);
        else done();
      };
      requestAnimationFrame(frame);
    });
    return out;
  }, SECONDS * 1000);
  const changes = ((await fleet.board()).n - changesBefore) / ((performance.now() - began) / 1000);
  const heapAfter = await heap();
  stop.abort();
  await playing;
  const [longest, p95] = [Math.max(0, ...tasks), percentile(frames, 0.95)];
  console.log(
    `${SECONDS} s: p95 frame ${p95.toFixed(1)} ms, ${tasks.length} long tasks, longest ${longest.toFixed(0)} ms, ${await page.locator("[data-card]").count()} cards drawn`,
  );
  tell([
    { name: "changes", unit: "/s", samples: [changes] },
    // Zero long tasks is the goal, and is also a sample.
    { name: "long task", unit: "ms", samples: [0, ...tasks] },
    { name: "frame", unit: "ms", samples: frames },
    { name: "frame, longest", unit: "ms", samples: [Math.max(...frames)] },
    { name: "heap before", unit: "MB", samples: [heapBefore] },
    { name: "heap after", unit: "MB", samples: [heapAfter] },
  ]);
  expect(heapAfter - heapBefore).toBeLessThan(HEAP_GROWS_MAX_MB);
  // The connection was never lost, and the page shows what the daemon has.
  await expect(page.locator("[data-connection=live]")).toBeAttached();
  const { sessions } = await fleet.board();
  expect(sessions).toHaveLength(SESSIONS);
  const slots = () =>
    Promise.all(COLUMNS.map((column) => fleet.column(column).locator("[data-slot]").count()));
  await expect.poll(slots).toEqual(COLUMNS.map((column) => wantedIn(sessions, column).length));
  expect(await page.locator("[data-card]").count()).toBeLessThan(DRAWN_MAX);
});

test.describe("first paint", () => {
  test.use({ fleetKind: "resting" });
  const ROUNDS = 5;

  test("measures how soon 54 cards are on screen", async ({ fleet, browser }) => {
    const samples: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      // A new context, so nothing is cached.
      const context = await browser.newContext();
      const page = await context.newPage();
      await servePage(page);
      await page.goto(fleet.server.url);
      await page.waitForFunction(() => document.querySelectorAll("[data-card]").length === 54);
      samples.push(await page.evaluate(() => performance.now()));
      await context.close();
    }
    tell([{ name: "54 cards", unit: "ms", samples }]);
  });
});
