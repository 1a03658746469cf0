import { type Signal, useComputed } from "@preact/signals";
import type { CSSProperties } from "preact";
import { roleAppearance } from "../card/appearance";
import type { FleetHistoryRow } from "../generated/FleetHistoryRow";
import type { FleetSpan } from "../generated/FleetSpan";
import { time } from "../lib/clock";
import { clockTime, roundedDuration, usd } from "../lib/format";
import { openSession, sessionHref } from "../lib/route";
import { rowFocus } from "../lib/selection";
import { sessionSignal } from "../live/store";
import { WireIcon } from "../ui/Icon";
import { StateSegment } from "./StateSegment";
import { isWaiting, type Window, waitedMs } from "./summary";

/** The span under the pointer. */
export type HoveredSpan = { id: string; index: number } | null;

type HistoryRowProps = { row: FleetHistoryRow; window: Window; hovered: Signal<HoveredSpan> };

/**
 * One session: name, states over time, sums. Hovering a span shows its details, a click opens the session.
 */
export function HistoryRow({ row, window, hovered }: HistoryRowProps) {
  const session = sessionSignal(row.id)?.value;
  const last = row.spans.at(-1);
  const appearance = last ? roleAppearance(last.role) : "ended";
  const waited = waitedMs(row, window);
  const over = (event: PointerEvent) => {
    const at = event.target instanceof HTMLElement ? event.target.dataset.span : undefined;
    const index = at === undefined ? -1 : Number(at);
    if (hovered.peek()?.id !== row.id || hovered.peek()?.index !== index)
      hovered.value = index < 0 ? null : { id: row.id, index };
  };
  const shown = useComputed(() => (hovered.value?.id === row.id ? hovered.value.index : -1)).value;
  return (
    <>
      <a class={`row-name ${appearance}`} href={sessionHref(row.id)} {...rowFocus(row.id)}>
        <WireIcon name={session?.agent_state.icon ?? "check"} />
        <span class="clip">{row.title ?? "No prompt yet"}</span>
        {session?.git_branch && <span class="br clip">{session.git_branch}</span>}
      </a>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the row's link opens the same session by keyboard. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: see above. */}
      <div
        class="track"
        onPointerMove={over}
        onPointerLeave={() => {
          hovered.value = null;
        }}
        onClick={() => openSession(row.id)}
      >
        {row.spans.map((s, i) => (
          <StateSegment
            key={i}
            index={i}
            appearance={roleAppearance(s.role)}
            state={s.state}
            from={time(s.from)}
            to={s.to ? time(s.to) : window.end}
            start={window.start}
            end={window.end}
          />
        ))}
        {row.spans[shown] && <HoverCard row={row} span={row.spans[shown]} window={window} />}
      </div>
      <div class="row-num">
        <span class={waited > 0 ? "w" : undefined}>{roundedDuration(waited)}</span>
        <span>{session?.cost && usd(session.cost.usd_micros)}</span>
      </div>
    </>
  );
}

function HoverCard({ row, span, window }: { row: FleetHistoryRow; span: FleetSpan; window: Window }) {
  const to = span.to ? time(span.to) : window.end;
  const middle =
    ((Math.max(time(span.from), window.start) + to) / 2 - window.start) / (window.end - window.start);
  const style: CSSProperties =
    middle > 0.6 ? { right: `${(1 - middle) * 100}%` } : { left: `${middle * 100}%` };
  const length = roundedDuration(to - time(span.from));
  return (
    <div class={`hover-card is-${roleAppearance(span.role)}`} role="tooltip" style={style}>
      <div class="card-head">
        <span class="state">
          <span class="clip">{span.label}</span>
        </span>
        <span class="since">
          {clockTime(time(span.from))} to {span.to ? clockTime(to) : "now"}
        </span>
      </div>
      <p class="clip">
        <b>{row.title ?? "No prompt yet"}</b>
      </p>
      <p class="said">
        {isWaiting(span)
          ? span.to
            ? `Waited ${length}.`
            : `Has waited ${length} so far.`
          : `For ${length}.`}
      </p>
    </div>
  );
}
