/** Spend and rate limits in the header; a press opens the usage dialog. */

import type { RateLimit } from "../generated/RateLimit";
import { time } from "../lib/clock";
import { clockTime, usd } from "../lib/format";
import { fleetCounts } from "../live/fleetCounts";
import { usage } from "../live/usage";
import { overlay } from "../overlay/overlay";
import { Gauge, isHigh } from "../ui/Meters";

const HOURS = 12;
const open = () => {
  overlay.value = "usage";
};

/**
 * Today's spend if the daemon reports it, else the sum of the cards on the board, with a label that says
 * which. Nothing if neither is known.
 */
export function Spend() {
  const told = usage.value;
  const known = told?.today.usd_micros ?? fleetCounts.value.usdMicros ?? 0;
  const hours = told?.rows?.slice(-HOURS).map((row) => row.usd_micros) ?? [];
  if (!known && !hours.some((spent) => spent > 0)) return null;
  const words = (
    <span class="words">
      <span class="k">{told ? "Spend today" : "Spend, these sessions"}</span>
      <span class="v">{usd(known)}</span>
    </span>
  );
  if (!told) return <div class="instrument spend">{words}</div>;
  return (
    <button
      type="button"
      class="instrument spend"
      title="What was spent, by hour, day, project and model"
      onClick={open}
    >
      {words}
      {hours.length > 1 && <HourBars values={hours} />}
      {hours.length > 1 && (
        <span class="sub extra">
          {usd(hours.at(-1) ?? 0)}
          <br />
          this hour
        </span>
      )}
    </button>
  );
}

function HourBars({ values }: { values: number[] }) {
  const most = Math.max(1, ...values);
  const step = 64 / values.length;
  return (
    <svg
      class="spark"
      viewBox="0 0 64 24"
      preserveAspectRatio="none"
      role="img"
      aria-label={`Spend per hour, last ${values.length} hours`}
    >
      {values.map((v, i) => {
        const h = Math.max(1, (v / most) * 22);
        return (
          <rect
            key={i}
            x={i * step}
            y={24 - h}
            width={step * 0.66}
            height={h}
            class={i === values.length - 1 ? "now" : undefined}
          />
        );
      })}
    </svg>
  );
}

export function Limits() {
  if (!usage.value?.rate_limits) return null;
  return (
    <button type="button" class="instrument" title="Rate limits of your subscription" onClick={open}>
      <span class="sr">Rate limits</span>
      <LimitRows />
    </button>
  );
}

export function LimitRows() {
  const limits = usage.value?.rate_limits;
  return (
    <span class="limits">
      {limits?.five_hour && <Limit name="5 h" limit={limits.five_hour} />}
      {limits?.seven_day && <Limit name="Week" limit={limits.seven_day} />}
    </span>
  );
}

const DAY_MS = 86_400_000;

function Limit({ name, limit }: { name: string; limit: RateLimit }) {
  const at = limit.resets_at ? time(limit.resets_at) : null;
  const when =
    at === null
      ? ""
      : at - Date.now() < DAY_MS
        ? clockTime(at)
        : new Date(at).toLocaleDateString("en-GB", { weekday: "short" });
  return (
    <>
      <span>{name}</span>
      <span class={isHigh(limit.percent) ? "is-high" : undefined}>
        <Gauge percent={limit.percent} />
      </span>
      <b>{Math.round(limit.percent)}%</b>
      <span>{when && `resets ${when}`}</span>
    </>
  );
}
