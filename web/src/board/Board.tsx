/**
 * The three columns Needs You, Running and Done. Each scrolls by itself; at phone width one is shown at a
 * time.
 */
import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { appearanceOf } from "../card/appearance";
import { LARGE_FLEET, revision, sessionSignal } from "../live/store";
import { WireIcon } from "../ui/Icon";
import { afterMove } from "./cardMotion";
import { layout } from "./currentLayout";
import { clearFilter, filtering } from "./filter";
import { LaneView } from "./LaneView";
import type { Lane, LaneName } from "./layout";
import { countText, idsOf, type ShownCount, shownCounts } from "./shownCounts";

export type ColumnName = "needs" | "running" | "done";
/** The column that is shown at phone width. */
export const phoneColumn = signal<ColumnName>("needs");

export function Board() {
  const { lanes, shown } = layout.value;
  useLayoutEffect(afterMove, [layout.value]);
  const virtualized = shown > LARGE_FLEET;
  const find = (name: LaneName) => lanes.find((lane) => lane.name === name);
  const done = find("done");
  const running = find("running");
  return (
    <main
      class={`board${done ? "" : " no-done"}${virtualized ? " virtualized" : ""}`}
      data-column={phoneColumn.value}
    >
      <h1 class="sr">Board</h1>
      <NeedsYou blocked={find("blocked")} waiting={find("waiting")} virtualized={virtualized} />
      <section class="column running" aria-label="Running">
        <ColumnHead title="Running" count={shownCounts.value.running} />
        {running && <LaneView lane={running} virtualized={virtualized} label="Running sessions" />}
        {!running?.ids.length && <Nothing text="Nothing is running" />}
      </section>
      {done && (
        <section class="column done-column" aria-label="Done">
          <ColumnHead title="Done" count={shownCounts.value.done} />
          <LaneView lane={done} virtualized={virtualized} label="Ended sessions" />
          {done.ids.length === 0 && <Nothing text="Nothing ended lately" />}
        </section>
      )}
    </main>
  );
}

function ColumnHead({ title, count }: { title: string; count: ShownCount }) {
  return (
    <div class="column-head">
      <h2>{title}</h2>
      <span class="count">{countText(count)}</span>
    </div>
  );
}

const countOf = (lane: Lane | undefined) => idsOf(lane).length;

type NeedsProps = { blocked: Lane | undefined; waiting: Lane | undefined; virtualized: boolean };

function NeedsYou({ blocked, waiting, virtualized }: NeedsProps) {
  const shown = countOf(blocked) + countOf(waiting);
  const { needs } = shownCounts.value;
  const outside = needs.all - needs.shown;
  return (
    <section class={blocked ? "column needs two" : "column needs"} aria-label="Needs You">
      <div class="column-head">
        <h2>Needs You</h2>
        <span class={needs.shown > 0 ? "count attn" : "count"} title="Sessions that block or ask">
          {countText(needs)}
        </span>
        {blocked && <span class="lane-name">Blocked {countOf(blocked)}</span>}
        <Tallies ids={idsOf(blocked ?? waiting)} />
      </div>
      {blocked && (
        <div class="column-head second">
          <span class="lane-name">Waiting {countOf(waiting)}</span>
          <Tallies ids={idsOf(waiting)} />
        </div>
      )}
      {shown > 0 && outside > 0 && <OutsideFilter count={outside} />}
      {blocked && shown > 0 && countOf(blocked) === 0 && <EmptyLane text="Nothing is blocked" />}
      {blocked && <LaneView lane={blocked} virtualized={virtualized} label="Blocked sessions" />}
      {waiting && (
        <LaneView
          lane={waiting}
          virtualized={virtualized}
          label={blocked ? "Waiting sessions" : "Sessions that need you"}
        />
      )}
      {blocked && shown > 0 && countOf(waiting) === 0 && <EmptyLane text="Nothing else waits for you" />}
      {shown === 0 && (
        <Nothing
          text="Nothing waits for you"
          hidden={outside > 0 ? `${needYou(outside)} outside the filter` : null}
        />
      )}
    </section>
  );
}

const needYou = (count: number) => (count === 1 ? "1 session needs you" : `${count} sessions need you`);

/** The header counts the whole fleet: says how many of these the filter hides. One press shows them. */
function OutsideFilter({ count }: { count: number }) {
  return (
    <p class="outside-filter">
      <span class="clip">
        {count === 1 ? "1 more needs you" : `${count} more need you`} outside the filter
      </span>
      <button type="button" class="btn ghost" onClick={clearFilter}>
        Show all
      </button>
    </p>
  );
}

/** Keeps the place of an empty lane, so that the other lane stays below its own heading. */
const EmptyLane = ({ text }: { text: string }) => (
  <p class="nothing in-lane">{filtering.value ? "No card here matches the filter" : text}</p>
);

/** The number of cards per kind of waiting, with icon and label from the wire, in lane order. */
function Tallies({ ids }: { ids: string[] }) {
  void revision.value;
  const kinds = new Map<string, { icon: string; look: string; label: string; n: number }>();
  for (const id of ids) {
    const session = sessionSignal(id)?.peek();
    if (!session || session.parked) continue;
    const { waiting, agent_state } = session;
    const label = waiting?.kind === "blocks" ? agent_state.state.replace(/_/g, " ") : (waiting?.label ?? "");
    const kind = kinds.get(label) ?? {
      icon: waiting?.icon ?? agent_state.icon,
      look: appearanceOf(session),
      label,
      n: 0,
    };
    kind.n++;
    kinds.set(label, kind);
  }
  return (
    <span class="tallies">
      {[...kinds.values()].map(({ icon, look, label, n }) => (
        <span key={label} class={`tally ${look}`} title={label}>
          <WireIcon name={icon} small />
          {n}
          <span class="sr"> {label}</span>
        </span>
      ))}
    </span>
  );
}

/** `hidden` says what the filter hides. */
function Nothing({ text, hidden = null }: { text: string; hidden?: string | null }) {
  return (
    <p class={filtering.value && hidden ? "nothing hides" : "nothing"}>
      {filtering.value ? (hidden ?? "No card matches the filter") : text}
      {filtering.value && (
        <button type="button" class="btn ghost" onClick={clearFilter}>
          Clear filter
        </button>
      )}
    </p>
  );
}
