/** One effort in detail. */
import { copy } from "../card/actions";
import type { Effort } from "../generated/Effort";
import type { HandoffCard } from "../generated/HandoffCard";
import { time } from "../lib/clock";
import { clockTime, plural } from "../lib/format";
import { sessionHref, viewHref } from "../lib/route";
import { Button } from "../ui/Button";
import { Icon, WireIcon } from "../ui/Icon";
import { Markdown } from "../ui/Markdown";
import { Gauge } from "../ui/Meters";
import { Elapsed } from "../ui/Timer";
import { contextOf, doing, mainWindows, numbersOf, openWindow, sessionOf } from "./current";
import { EffortCost } from "./EffortCost";
import { deniedCalls } from "./EffortRow";
import { EffortTimeline } from "./EffortTimeline";
import { GuardTable } from "./GuardTable";
import { Heartbeat } from "./Heartbeat";
import { PhaseLine } from "./PhaseLine";
import { WindowBand } from "./WindowBand";

export function EffortDetail({ effort }: { effort: Effort }) {
  return (
    <section class="effort-detail" tabIndex={0} aria-label={`Effort: ${effort.title}`} data-shown={effort.id}>
      <Head effort={effort} />
      <EffortFacts effort={effort} />
      {effort.line.length > 0 && (
        <section aria-label="Phases with times">
          <h2>Phases</h2>
          <PhaseLine line={effort.line} detailed />
        </section>
      )}
      <WindowBand effort={effort} />
      <div class="effort-two">
        <EffortTimeline effort={effort} />
        <div class="effort-side">
          {effort.handoff && <Handoff effort={effort} handoff={effort.handoff} />}
          <LoadedFiles effort={effort} />
        </div>
      </div>
      <GuardTable effort={effort} />
    </section>
  );
}

function Head({ effort }: { effort: Effort }) {
  const window = openWindow(effort) ?? mainWindows(effort).at(-1) ?? null;
  const session = sessionOf(openWindow(effort));
  const { label, icon, tone, since } = doing(effort, session);
  return (
    <header class={`effort-title tone-${tone}`}>
      <a class="btn ghost back" href={viewHref("efforts")}>
        All efforts
      </a>
      <h1>{effort.title}</h1>
      <code>
        {effort.skill} {effort.ordinal}
      </code>
      <span class="dim">{whereText(effort)}</span>
      <span class="effort-now">
        <span class="doing">
          <WireIcon name={icon} small />
          {label}
          {since && <Elapsed since={since} />}
        </span>
        {window && (
          <a class="btn" href={sessionHref(window.session_id)}>
            {window.ended_at === null ? "Open session" : "Open last session"}
          </a>
        )}
      </span>
    </header>
  );
}

const whereText = ({ project, seat, mode, started_at, finished_at }: Effort): string =>
  [
    project.name,
    project.worktree && `worktree ${project.worktree}`,
    seat && `seat ${seat}`,
    mode && `mode ${mode}`,
    `started ${dateText(started_at)}`,
    finished_at && `finished ${dateText(finished_at)}`,
  ]
    .filter(Boolean)
    .join(", ");

function EffortFacts({ effort }: { effort: Effort }) {
  const window = openWindow(effort);
  const percent = window ? contextOf(window) : null;
  const windows = mainWindows(effort);
  const handoffs = windows.filter((one) => one.handed_over).length;
  const last = effort.log.at(-1);
  return (
    <dl class="effort-facts">
      <div>
        <dt>Cost, all windows</dt>
        <dd>{effort.cost ? <EffortCost cost={effort.cost} /> : <span class="dim">not known</span>}</dd>
      </div>
      <div>
        <dt>Windows</dt>
        <dd>
          {effort.windows_dropped + windows.length} <small>{plural(handoffs, "handoff")}</small>
        </dd>
      </div>
      {percent !== null && (
        <div>
          <dt>Context now</dt>
          <dd>
            {percent}% <Gauge percent={percent} />
          </dd>
        </div>
      )}
      {effort.lifecycle === "active" && (
        <div>
          <dt>Heartbeat, calls since last log</dt>
          <dd>
            <Heartbeat beat={numbersOf(effort, sessionOf(window))} />
          </dd>
        </div>
      )}
      <div>
        <dt>Denied calls</dt>
        <dd>
          {deniedCalls(effort)} <DeniedBy effort={effort} />
        </dd>
      </div>
      <div>
        <dt>Log entries</dt>
        <dd>
          {effort.log_entries} {last && <small>last {clockTime(time(last.at))}</small>}
        </dd>
      </div>
      {effort.pending_injections > 0 && (
        <div>
          <dt>Injections</dt>
          <dd>
            {effort.pending_injections} <small>not delivered yet</small>
          </dd>
        </div>
      )}
    </dl>
  );
}

/** Names of rules that have room; more are counted. */
const RULES_NAMED = 2;

function DeniedBy({ effort: { denials } }: { effort: Effort }) {
  if (denials.length === 0) return null;
  const names = denials.map(({ rule }) => rule).join(", ");
  return (
    <small title={names}>by {denials.length > RULES_NAMED ? plural(denials.length, "rule") : names}</small>
  );
}

const WHEN = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" } as const;
const dateText = (iso: string) => new Date(iso).toLocaleString("en-GB", WHEN);

function Handoff({ effort, handoff }: { effort: Effort; handoff: HandoffCard }) {
  const number = (id: string | null) => effort.windows.find((window) => window.id === id)?.number;
  const [from, to] = [number(handoff.from), number(handoff.to)];
  return (
    <section aria-label="Handoff">
      <h2>
        Handoff{from != null && ` from window ${from}`}
        {to != null && ` to ${to}`}
        <span>
          {clockTime(time(handoff.at))}, {sizeText(handoff.payload)},{" "}
          {handoff.to === null ? "waits for the next window" : "delivered"}
        </span>
      </h2>
      <div class="handoff-text" tabIndex={0} role="region" aria-label="Text of the handoff">
        <Markdown text={handoff.payload} />
      </div>
    </section>
  );
}

/** Characters, because that is how the daemon limits them. */
const sizeText = (text: string): string =>
  text.length < 1000 ? plural(text.length, "character") : `${(text.length / 1000).toFixed(1)}k characters`;

const FILES_MAX = 30;

function LoadedFiles({ effort }: { effort: Effort }) {
  const window = openWindow(effort) ?? mainWindows(effort).at(-1);
  const files = window?.loaded_files ?? [];
  const inWorkstream = (file: string) =>
    file.startsWith(`${effort.workstream}/`) ? file.slice(effort.workstream.length + 1) : file;
  return (
    <section aria-label="Files">
      <h2>
        Files in context{" "}
        <span>{window ? `window ${window.number}, ${plural(files.length, "file")}` : "none yet"}</span>
      </h2>
      <ul class="effort-files">
        {files.slice(0, FILES_MAX).map((file) => (
          <li key={file}>
            <Icon name="file" small />
            <span class="clip path" title={file}>
              <bdi>{inWorkstream(file)}</bdi>
            </span>
          </li>
        ))}
      </ul>
      {files.length > FILES_MAX && <p class="dim">{files.length - FILES_MAX} more</p>}
      <p class="artifacts">
        Log and handoffs are in <code>{effort.artifacts}</code>
        <Button kind="ghost" square label="Copy the path" onClick={() => void copy(effort.artifacts)}>
          <Icon name="copy" small />
        </Button>
      </p>
    </section>
  );
}
