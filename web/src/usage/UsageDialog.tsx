/** The usage dialog: spend by hour, by day, by project and by model, as the daemon counts it. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Usage } from "../generated/Usage";
import type { UsageRow } from "../generated/UsageRow";
import { time } from "../lib/clock";
import { modelName, plural, usd } from "../lib/format";
import { getUsageOf } from "../live/api";
import { refreshUsage, usage } from "../live/usage";
import { Modal, ModalHead } from "../overlay/Modal";
import { closeOverlay } from "../overlay/overlay";
import { type Bar, BarChart } from "../ui/BarChart";
import { LimitRows } from "./HeaderUsage";

const DAYS = 7;
const ROWS_MAX = 5;
/** Refresh interval while the dialog is open; the header refreshes less often. */
const REFRESH_MS = 3_000;

export function UsageDialog() {
  const week = useSignal<Usage | null>(null);
  const failed = useSignal<string | null>(null);
  useEffect(() => {
    void refreshUsage();
    const again = setInterval(() => void refreshUsage(), REFRESH_MS);
    return () => clearInterval(again);
  }, []);
  useEffect(() => {
    getUsageOf(`${DAYS}d`).then(
      (reply) => {
        week.value = reply;
      },
      (error: unknown) => {
        failed.value = String(error);
      },
    );
  }, [usage.value]);
  const lastWeek = week.value;
  const hours = usage.value?.rows ?? [];
  return (
    <Modal label="Usage" class="modal usage" onClose={closeOverlay}>
      <ModalHead title="Usage" onClose={closeOverlay} />
      {failed.value && (
        <p class="ask-error" role="alert">
          {failed.value}
        </p>
      )}
      {usage.value?.rate_limits && (
        <section aria-label="Rate limits">
          <h3>Rate limits</h3>
          <LimitRows />
        </section>
      )}
      {/* Today's sum comes with the week's data: the header's may be a minute old, and the two would not add up. */}
      {hours.length > 1 && (
        <SpendSection
          title="Today"
          micros={(lastWeek ?? usage.value)?.today.usd_micros ?? 0}
          aside={`hour by hour, the last ${hours.length}`}
          bars={hours.map(hourBar)}
        />
      )}
      {lastWeek && (
        <SpendSection
          title={`Last ${DAYS} days`}
          micros={lastWeek.total.usd_micros}
          aside={plural(lastWeek.sessions_total, "session")}
          bars={days(lastWeek.by_day)}
        />
      )}
      {lastWeek && <WeekDetails week={lastWeek} />}
    </Modal>
  );
}

function WeekDetails({ week }: { week: Usage }) {
  const { total, by_project, by_model, indexing } = week;
  return (
    <>
      <div class="usage-lists">
        <TopRows title="By project" rows={by_project} of={total.usd_micros} />
        <TopRows title="By model" rows={by_model} of={total.usd_micros} name={modelName} />
      </div>
      {total.unpriced_models.length > 0 && (
        <p class="dim">Price unknown, so not in the sums: {total.unpriced_models.join(", ")}</p>
      )}
      {indexing && indexing.files_left > 0 && (
        <p class="dim">Still reading history: {plural(indexing.files_left, "transcript")} left</p>
      )}
    </>
  );
}

function SpendSection({
  title,
  micros,
  aside,
  bars,
}: {
  title: string;
  micros: number;
  aside: string;
  bars: Bar[];
}) {
  return (
    <section aria-label={title}>
      <h3>
        {title} <b>{usd(micros)}</b>
        <span class="aside">{aside}</span>
      </h3>
      <BarChart bars={bars} />
    </section>
  );
}

function hourBar({ key, usd_micros }: UsageRow, i: number, all: UsageRow[]): Bar {
  const hour = new Date(time(key)).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  const last = i === all.length - 1;
  return {
    key,
    value: usd_micros,
    text: `${hour}: ${usd(usd_micros)}`,
    label: (all.length - 1 - i) % 3 === 0 ? hour.slice(0, 2) : "",
    now: last,
  };
}

const DAY_MS = 86_400_000;

/** Days without work have no row in the data but get an empty bar. */
function days(rows: UsageRow[]): Bar[] {
  const spent = new Map(rows.map((row) => [row.key, row.usd_micros]));
  const today = new Date();
  const end = Date.UTC(today.getFullYear(), today.getMonth(), today.getDate());
  return Array.from({ length: DAYS }, (_, i) => {
    const day = new Date(end - (DAYS - 1 - i) * DAY_MS);
    const key = day.toISOString().slice(0, 10);
    const value = spent.get(key) ?? 0;
    const name = day.toLocaleDateString("en-GB", { weekday: "short", timeZone: "UTC" });
    return { key, value, text: `${name} ${key}: ${usd(value)}`, label: name, now: i === DAYS - 1 };
  });
}

function TopRows({
  title,
  rows,
  of,
  name = (text) => text,
}: {
  title: string;
  rows: UsageRow[];
  of: number;
  name?: (text: string) => string;
}) {
  const shown = rows.slice(0, ROWS_MAX);
  const rest = rows.slice(ROWS_MAX).reduce((sum, row) => sum + row.usd_micros, 0);
  const share = (micros: number) => (of > 0 ? `${Math.round((micros / of) * 100)}%` : "");
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <dl>
        {shown.map((row) => (
          <div key={row.key}>
            <dt class="clip" title={row.key}>
              {name(row.name)}
            </dt>
            <dd class="dim">{share(row.usd_micros)}</dd>
            <dd>{usd(row.usd_micros)}</dd>
          </div>
        ))}
        {rows.length > ROWS_MAX && (
          <div>
            <dt class="dim">{rows.length - ROWS_MAX} more</dt>
            <dd class="dim">{share(rest)}</dd>
            <dd>{usd(rest)}</dd>
          </div>
        )}
      </dl>
    </section>
  );
}
