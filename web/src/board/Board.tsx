/**
 * The three columns Needs You, Running and Done. Each scrolls by itself; at phone width one is shown at a
 * time.
 */
import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { fleetCounts } from "../live/fleetCounts";
import { LARGE_FLEET, revision, sessionSignal } from "../live/store";
import { WireIcon } from "../ui/Icon";
import { afterMove } from "./cardMotion";
import { layout } from "./currentLayout";
import { clearFilter, filtering } from "./filter";
import { LaneView } from "./LaneView";
import type { Lane, LaneName } from "./layout";

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
      <NeedsYou permissions={find("permissions")} replies={find("replies")} virtualized={virtualized} />
      <section class="column running" aria-label="Running">
        <ColumnHead title="Running" count={running?.ids.length ?? 0} />
        {running && <LaneView lane={running} virtualized={virtualized} label="Running sessions" />}
        {!running?.ids.length && <Nothing text="Nothing is running" />}
      </section>
      {done && (
        <section class="column done-column" aria-label="Done">
          <ColumnHead title="Done" count={done.ids.length} />
          <LaneView lane={done} virtualized={virtualized} label="Ended sessions" />
          {done.ids.length === 0 && <Nothing text="Nothing ended lately" />}
        </section>
      )}
    </main>
  );
}

function ColumnHead({ title, count }: { title: string; count: number }) {
  return (
    <div class="column-head">
      <h2>{title}</h2>
      <span class="count">{count}</span>
    </div>
  );
}

type NeedsProps = { permissions: Lane | undefined; replies: Lane | undefined; virtualized: boolean };

function NeedsYou({ permissions, replies, virtualized }: NeedsProps) {
  const count = (permissions?.ids.length ?? 0) + (replies?.ids.length ?? 0);
  return (
    <section class={permissions ? "column needs two" : "column needs"} aria-label="Needs You">
      <div class="column-head">
        <h2>Needs You</h2>
        <span class={count > 0 ? "count attn" : "count"}>{count}</span>
        {permissions && <span class="lane-name">Permissions {permissions.ids.length}</span>}
        <Tallies ids={permissions?.ids ?? replies?.ids ?? []} />
      </div>
      {permissions && (
        <div class="column-head second">
          <span class="lane-name">Replies {replies?.ids.length ?? 0}</span>
          <Tallies ids={replies?.ids ?? []} />
        </div>
      )}
      {permissions && <LaneView lane={permissions} virtualized={virtualized} label="Permissions" />}
      {replies && (
        <LaneView
          lane={replies}
          virtualized={virtualized}
          label={permissions ? "Replies" : "Sessions that need you"}
        />
      )}
      {count === 0 && (
        <Nothing text={fleetCounts.value.needsYou > 0 ? "Hidden by the filter" : "Nothing waits for you"} />
      )}
    </section>
  );
}

/** The number of cards per state, with the icon and colour role from the wire, in lane order. */
function Tallies({ ids }: { ids: string[] }) {
  void revision.value;
  const kinds = new Map<string, { icon: string; role: string; state: string; n: number }>();
  for (const id of ids) {
    const state = sessionSignal(id)?.peek().agent_state;
    if (!state) continue;
    const kind = kinds.get(state.state) ?? { icon: state.icon, role: state.role, state: state.state, n: 0 };
    kind.n++;
    kinds.set(state.state, kind);
  }
  return (
    <span class="tallies">
      {[...kinds.values()].map(({ icon, role, state, n }) => (
        <span key={state} class={`tally ${role}`} title={state.replace(/_/g, " ")}>
          <WireIcon name={icon} small />
          {n}
          <span class="sr"> {state.replace(/_/g, " ")}</span>
        </span>
      ))}
    </span>
  );
}

function Nothing({ text }: { text: string }) {
  return (
    <p class="nothing">
      {filtering.value ? "No card matches the filter" : text}
      {filtering.value && (
        <button type="button" class="btn ghost" onClick={clearFilter}>
          Clear filter
        </button>
      )}
    </p>
  );
}
