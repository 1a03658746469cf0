/** The efforts: a list, and one of them in detail. On a narrow page the detail replaces the list. */
import { Fragment } from "preact";
import { useEffect } from "preact/hooks";
import { Way } from "../board/EmptyBoard";
import type { Effort } from "../generated/Effort";
import { openEffortId, viewHref } from "../lib/route";
import { hookStatus } from "../live/hookStatus";
import { Button } from "../ui/Button";
import { clearEffortFilter, EffortBar, isFilteringEfforts } from "./EffortBar";
import { EffortDetail } from "./EffortDetail";
import { EffortRow } from "./EffortRow";
import {
  effortFilter,
  efforts,
  failure,
  followEfforts,
  isEmpty,
  loading,
  loadMore,
  nextBefore,
  reload,
  unknownId,
} from "./effortsData";
import { matchesEffortFilter } from "./filter";

export function EffortsView() {
  useEffect(followEfforts, []);
  const found = efforts.value.filter((effort) => matchesEffortFilter(effort, effortFilter.value));
  const opened = openEffortId.value;
  const shown = opened === null ? found[0] : efforts.value.find((effort) => effort.id === opened);
  const isLoaded = nextBefore.value === null;
  if (isEmpty.value) return <NoEffort />;
  return (
    <>
      <EffortBar found={found.length} />
      <main class="efforts" data-opened={opened !== null || undefined}>
        <section class="efforts-list" tabIndex={0} aria-label="Efforts">
          {failure.value !== null && <Failed why={failure.value} />}
          <Rows efforts={found} shown={shown?.id ?? null} />
          {found.length === 0 && isLoaded && <Nothing />}
          <More />
        </section>
        {shown ? (
          <EffortDetail key={shown.id} effort={shown} />
        ) : (
          opened !== null && <Unopened isUnknown={unknownId.value === opened} />
        )}
      </main>
    </>
  );
}

/** The daemon sends the active ones first. */
function Rows({ efforts: found, shown }: { efforts: Effort[]; shown: string | null }) {
  const firstFinished = found.find((effort) => effort.lifecycle === "finished");
  return (
    <>
      {found.map((effort) => (
        <Fragment key={effort.id}>
          {effort === firstFinished && <h2 class="efforts-tier">Finished</h2>}
          <EffortRow effort={effort} isShown={effort.id === shown} />
        </Fragment>
      ))}
    </>
  );
}

function More() {
  if (loading.value)
    return (
      <p class="dim" role="status">
        Loading
      </p>
    );
  if (typeof nextBefore.value !== "string") return null;
  return <Button onClick={() => void loadMore()}>Load older</Button>;
}

const Failed = ({ why }: { why: string }) => (
  <p class="ask-error" role="alert">
    The efforts could not be read: {why} <Button onClick={() => void reload()}>Try again</Button>
  </p>
);

function Nothing() {
  if (isFilteringEfforts())
    return (
      <p class="nothing">
        No effort fits the search and the filters
        <Button onClick={clearEffortFilter}>Clear them</Button>
      </p>
    );
  const { which } = effortFilter.value;
  return <p class="nothing">{which === "active" ? "No effort is active" : "No effort is finished"}</p>;
}

const Unopened = ({ isUnknown }: { isUnknown: boolean }) => (
  <section class="effort-detail" aria-label="Effort">
    <p class="nothing">
      {isUnknown ? "No effort found for this link" : "Loading the effort"}
      <a class="btn" href={viewHref("efforts")}>
        All efforts
      </a>
    </p>
  </section>
);

function NoEffort() {
  const program = hookStatus.value?.program ?? "flightdeck";
  return (
    <main class="empty">
      <div class="empty-in">
        <div>
          <h1>No effort yet</h1>
          <p class="lead">
            An effort is one run of a skill that outlives a context window. It has phases, a log that the
            agent must keep, guard rules for its tool calls, and a handoff from each context window to the
            next. A directory without an effort is not changed in any way.
          </p>
        </div>
        <div class="ways">
          <Way
            title="Start one in a project's directory"
            command={`${program} effort start implement`}
            text="Sessions in that directory then work on it, and it appears here."
          />
          <Way
            title="Hold it to a rule"
            command={`${program} guard --help`}
            text="A rule allows, warns about or denies tool calls, for example a force push."
          />
        </div>
      </div>
    </main>
  );
}
