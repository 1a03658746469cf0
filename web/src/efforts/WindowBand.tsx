/** The context windows of an effort: width is time, height is how full the context is. A click opens the session. */
import { useComputed } from "@preact/signals";
import type { Effort } from "../generated/Effort";
import type { NumbersPoint } from "../generated/NumbersPoint";
import type { WindowCard } from "../generated/WindowCard";
import type { WindowEnd } from "../generated/WindowEnd";
import { now, time } from "../lib/clock";
import { clockTime, lastedText, plural, usd } from "../lib/format";
import { sessionHref } from "../lib/route";
import { Icon } from "../ui/Icon";
import { fill } from "../ui/Meters";
import { contextOf, mainWindows } from "./current";
import { contextText } from "./WindowSegments";
import { type CurvePoint, costOf, curveOf, useWindowNumbers } from "./windowNumbers";

/** How often the widths are computed again. After a shorter time they would change by less than a pixel. */
const STEP_MS = 10_000;

const ENDS: Record<WindowEnd, string> = {
  session_ended: "session ended",
  compacted: "compacted",
  dehydrated: "left a handoff",
  finished: "ended",
  replaced: "replaced",
  subagent_stopped: "stopped",
  effort_finished: "effort finished",
};

export const endText = ({ end, ended_at }: WindowCard): string =>
  ended_at === null ? "open" : end === null ? "ended" : (ENDS[end] ?? "ended");

export function WindowBand({ effort }: { effort: Effort }) {
  const at = useComputed(() => Math.floor(now.value / STEP_MS) * STEP_MS).value;
  const windows = mainWindows(effort);
  const numbers = useWindowNumbers(effort);
  return (
    <section aria-label="Context windows">
      <h2>
        Context windows <span>width is time, height is how full the context is</span>
      </h2>
      {windows.length === 0 && (
        <p class="dim">None yet. The next session that starts in {effort.workstream} begins one.</p>
      )}
      {effort.windows_dropped > 0 && (
        <p class="dim">{plural(effort.windows_dropped, "earlier window")} before these</p>
      )}
      <ol class="window-band" tabIndex={0}>
        {windows.map((window) => (
          <WindowBox key={window.id} window={window} points={numbers.get(window.session_id) ?? []} at={at} />
        ))}
      </ol>
      <Subagents effort={effort} at={at} />
    </section>
  );
}

const lasted = ({ started_at, ended_at }: WindowCard, at: number): number =>
  Math.max(0, (ended_at === null ? at : time(ended_at)) - time(started_at));

function WindowBox({ window, points, at }: { window: WindowCard; points: NumbersPoint[]; at: number }) {
  const percent = contextOf(window);
  const curve = curveOf(window, percent, points, at);
  const cost = costOf(window, points);
  const isOpen = window.ended_at === null;
  return (
    <li style={{ flexGrow: Math.max(1, Math.round(lasted(window, at) / 1000)) }}>
      <a
        class={isOpen ? "window-box is-open" : "window-box"}
        href={sessionHref(window.session_id, window.started_at)}
        data-window={window.id}
        title={`Window ${window.number}: open its session`}
      >
        <span class="window-top">
          <b>Window {window.number}</b>
          <span>{lastedText(lasted(window, at))}</span>
        </span>
        <span class={curve.length > 0 ? "window-fill has-curve" : "window-fill"} style={fill(percent ?? 0)}>
          {curve.length > 0 && <Curve points={curve} />}
          <span class="sr">context </span>
          <b>{contextText(window)}</b>
        </span>
        <span class="window-top">
          <span>{clockTime(time(window.started_at))}</span>
          <span class="clip">
            {endText(window)}
            {cost !== null && `, ${usd(cost)}`}
          </span>
        </span>
      </a>
      {window.handed_over && (
        <span class="handed-over">
          <Icon name="handoff" small />
          handed over
        </span>
      )}
    </li>
  );
}

/** The path is stretched to the box; its line keeps its width. */
function Curve({ points }: { points: CurvePoint[] }) {
  const line = points.map(({ x, y }) => `${x.toFixed(1)} ${(100 - y).toFixed(1)}`).join("L");
  const [first, last] = [points[0]?.x ?? 0, points.at(-1)?.x ?? 0];
  return (
    <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
      <path class="area" d={`M${first} 100L${line}L${last} 100z`} />
      <path class="ink" d={`M${line}`} />
    </svg>
  );
}

function Subagents({ effort, at }: { effort: Effort; at: number }) {
  const windows = effort.windows.filter((window) => window.agent_id !== null);
  if (windows.length === 0) return null;
  return (
    <details class="effort-more">
      <summary>{plural(windows.length, "window of subagents", "windows of subagents")}</summary>
      <ul>
        {windows.map((window) => (
          <li key={window.id}>
            <a href={sessionHref(window.session_id, window.started_at)}>{window.agent_id}</a>{" "}
            {clockTime(time(window.started_at))}, {lastedText(lasted(window, at))}, {endText(window)},{" "}
            {plural(window.heartbeat, "call")} since its last log
          </li>
        ))}
      </ul>
    </details>
  );
}
