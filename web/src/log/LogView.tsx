/** The log: what was asked, by day and project, the result, and how long it waited for the person. */
import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { openDigest } from "../digest/digestData";
import type { Digest } from "../generated/Digest";
import { now } from "../lib/clock";
import { plural, roundedDuration } from "../lib/format";
import { throttle } from "../lib/throttle";
import { getDigest } from "../live/api";
import { onAssignmentChanges } from "../live/store";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { matchesLogFilter } from "./filter";
import { clearLogFilter, isFilteringLog, LogBar } from "./LogBar";
import { LogSections } from "./LogSections";
import {
  AUTO_ROWS_MAX,
  failure,
  followLog,
  loading,
  loadMore,
  logFilter,
  logRows,
  nextBefore,
  reload,
} from "./logData";
import { WaitChart } from "./WaitChart";
import { chartDays } from "./waits";

/** How often the chart is read again while assignments change. */
const CHART_MS = 5_000;
/** How often the sums of a day are drawn again. They are shown in minutes. */
const STEP_MS = 10_000;

export function LogView() {
  useEffect(followLog, []);
  const week = useWeek();
  const at = useComputed(() => Math.floor(now.value / STEP_MS) * STEP_MS).value;
  const found = logRows.value.filter((row) => matchesLogFilter(row.assignment, logFilter.value, at));
  return (
    <>
      <LogBar found={found.length} projects={week?.projects.map(({ project }) => project) ?? []} />
      <main class="log" tabIndex={0} aria-label="Log">
        {week && <Head week={week} at={at} />}
        {failure.value !== null && <Failed why={failure.value} />}
        <LogSections rows={found} at={at} />
        {found.length === 0 && nextBefore.value === null && <Nothing />}
        <More shown={found.length} />
      </main>
    </>
  );
}

/** The digest of the last days, read again while assignments change. */
function useWeek(): Digest | null {
  const week = useSignal<Digest | null>(null);
  useEffect(() => {
    const read = async () => {
      // Without it the log has no chart; the list says what failed.
      const digest = await getDigest(chartDays(Date.now())[0] ?? "7d").catch(() => null);
      if (digest) week.value = digest;
    };
    const { request, stop } = throttle(read, CHART_MS);
    const unfollow = onAssignmentChanges(request);
    request();
    return () => {
      unfollow();
      stop();
    };
  }, []);
  return week.value;
}

function Head({ week, at }: { week: Digest; at: number }) {
  const { completed, ended, died, waiting, working, working_seconds, waiting_seconds } = week.total;
  const asked = completed + ended + died + waiting + working;
  if (asked === 0) return null;
  return (
    <div class="log-head">
      <div>
        <h1>Last 7 days</h1>
        <p class="lede">
          <b>{plural(asked, "assignment")}</b>: {completed} completed
          {ended > 0 && `, ${ended} ended`}
          {died > 0 && (
            <>
              , <b class="fail">{died} died</b>
            </>
          )}
          {working > 0 && `, ${working} at work`}
          {waiting > 0 && (
            <>
              , <b class="attn">{waiting === 1 ? "1 waits for you" : `${waiting} wait for you`}</b>
            </>
          )}
          .
        </p>
        <p class="lede">
          Agents worked <b>{roundedDuration(working_seconds * 1000)}</b> and waited{" "}
          <b class={waiting_seconds >= 1 ? "attn" : undefined}>{roundedDuration(waiting_seconds * 1000)}</b>{" "}
          for you.
        </p>
        <Button onClick={openDigest}>
          <Icon name="asks" small />
          While you were away <kbd>g a</kbd>
        </Button>
      </div>
      <WaitChart digest={week} at={at} />
    </div>
  );
}

const Failed = ({ why }: { why: string }) => (
  <p class="ask-error" role="alert">
    The log could not be read: {why} <Button onClick={() => void reload()}>Try again</Button>
  </p>
);

function Nothing() {
  if (isFilteringLog())
    return (
      <p class="nothing">
        No assignment fits the search and the filters
        <Button onClick={clearLogFilter}>Clear them</Button>
      </p>
    );
  return (
    <div class="log-empty">
      <Icon name="asks" />
      <h2>Nothing was asked in this time</h2>
      <p class="dim">
        Each prompt that you give to a session is listed here, with its result, how long the agent worked, and
        how long it waited for you.
      </p>
    </div>
  );
}

/** Loads the next page when its place comes near the visible area; by a button if very much is loaded. */
function More({ shown }: { shown: number }) {
  const place = useRef<HTMLDivElement>(null);
  const auto = logRows.value.length < AUTO_ROWS_MAX;
  const more = typeof nextBefore.value === "string";
  useEffect(() => {
    if (!place.current || !more || !auto || failure.value !== null) return;
    const observer = new IntersectionObserver(
      (seen) => seen.some((entry) => entry.isIntersecting) && void loadMore(),
      { root: place.current.parentElement, rootMargin: "800px" },
    );
    observer.observe(place.current);
    return () => observer.disconnect();
    // After each page and each search the place may still be visible, so it is observed anew.
  }, [nextBefore.value, shown, auto, loading.value]);
  if (!more && !loading.value) return null;
  return (
    <div class="log-more" ref={place}>
      {loading.value ? (
        <p class="dim" role="status">
          Loading
        </p>
      ) : (
        <Button onClick={() => void loadMore()}>
          {auto ? "Load older" : `Load older than these ${logRows.value.length}`}
        </Button>
      )}
    </div>
  );
}
