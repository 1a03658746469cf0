import { useComputed, type Signal } from "@preact/signals";
import type { CSSProperties } from "preact";
import { lookOf } from "../card/look";
import type { FleetHistoryRow } from "../generated/FleetHistoryRow";
import type { FleetSpan } from "../generated/FleetSpan";
import { time } from "../lib/clock";
import { clockTime, span as spanText, usd } from "../lib/format";
import { openSession, sessionHref } from "../lib/route";
import { sessionSignal } from "../live/store";
import { WireIcon } from "../ui/Icon";
import { Segment } from "./Segment";
import { waitedMs, waits, type Window } from "./summary";

/** The stretch under the pointer. */
export type Lit = { id: string; index: number } | null;

type RowProps = { row: FleetHistoryRow; window: Window; lit: Signal<Lit> };

/** A session's row: name, strip, sums. Hover a stretch for its story, click to open. */
export function Row({ row, window, lit }: RowProps) {
  const session = sessionSignal(row.id)?.value;
  const last = row.spans.at(-1);
  const look = last ? lookOf(last.role) : "ended";
  const waited = waitedMs(row, window);
  const over = (event: PointerEvent) => {
    const at = event.target instanceof HTMLElement ? event.target.dataset.span : undefined;
    const index = at === undefined ? -1 : Number(at);
    if (lit.peek()?.id !== row.id || lit.peek()?.index !== index) lit.value = index < 0 ? null : { id: row.id, index };
  };
  const shown = useComputed(() => (lit.value?.id === row.id ? lit.value.index : -1)).value;
  return (
    <>
      <a class={`row-name ${look}`} href={sessionHref(row.id)}>
        <WireIcon name={session?.agent_state.icon ?? "check"} />
        <span class="clip">{row.title ?? "No prompt yet"}</span>
        {session?.git_branch && <span class="br clip">{session.git_branch}</span>}
      </a>
      <div class="track" onPointerMove={over} onPointerLeave={() => { lit.value = null; }} onClick={() => openSession(row.id)}>
        {row.spans.map((s, i) => (
          <Segment key={i} index={i} look={lookOf(s.role)} state={s.state} from={time(s.from)} to={s.to ? time(s.to) : window.end} start={window.start} end={window.end} />
        ))}
        {row.spans[shown] && <HoverCard row={row} span={row.spans[shown]} window={window} />}
      </div>
      <div class="row-num"><span class={waited > 0 ? "w" : undefined}>{spanText(waited)}</span><span>{session?.cost && usd(session.cost.usd_micros)}</span></div>
    </>
  );
}

function HoverCard({ row, span, window }: { row: FleetHistoryRow; span: FleetSpan; window: Window }) {
  const to = span.to ? time(span.to) : window.end;
  const middle = ((Math.max(time(span.from), window.start) + to) / 2 - window.start) / (window.end - window.start);
  const style: CSSProperties = middle > 0.6 ? { right: `${(1 - middle) * 100}%` } : { left: `${middle * 100}%` };
  const length = spanText(to - time(span.from));
  return (
    <div class={`hover-card is-${lookOf(span.role)}`} role="tooltip" style={style}>
      <div class="card-head"><span class="state"><span class="clip">{span.label}</span></span><span class="since">{clockTime(time(span.from))} to {span.to ? clockTime(to) : "now"}</span></div>
      <p class="clip"><b>{row.title ?? "No prompt yet"}</b></p>
      <p class="said">{waits(span) ? (span.to ? `Waited ${length}.` : `Waits since ${length}.`) : `For ${length}.`}</p>
    </div>
  );
}
