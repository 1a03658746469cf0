import { useComputed, useSignal } from "@preact/signals";
import { agentType } from "../card/headline";
import type { Session } from "../generated/Session";
import type { TimelineEvent } from "../generated/TimelineEvent";
import { clockTime, plural } from "../lib/format";
import { Icon } from "../ui/Icon";
import { type Step, stepMs, stepsFrom } from "./timelineSteps";

const FIRST = 80;
const MORE = 200;

export function Timeline({ session, events }: { session: Session; events: TimelineEvent[] }) {
  const shown = useSignal(FIRST);
  const source = useSignal(events);
  source.value = events;
  const steps = useComputed(() => stepsFrom(source.value));
  return (
    <section aria-label="Timeline">
      <h3 class="sect">
        Timeline<span class="aside">{plural(events.length, "event")}</span>
      </h3>
      {events.length === 0 && <p class="dim">No event recorded yet.</p>}
      <ol class="timeline">
        {steps.value.slice(0, shown.value).map((step) => (
          <StepRow key={step.event.id} step={step} session={session} />
        ))}
      </ol>
      {steps.value.length > shown.value && (
        <button
          type="button"
          class="btn ghost"
          onClick={() => {
            shown.value += MORE;
          }}
        >
          {steps.value.length - shown.value} earlier
        </button>
      )}
    </section>
  );
}

function StepRow({ step, session }: { step: Step; session: Session }) {
  const open = useSignal(false);
  const { event, end, icon, failed, said } = step;
  const agent = agentType(session, event.agent_id);
  const ms = stepMs(step);
  const cls = ["ev", said && "you", event.agent_id && "child"].filter(Boolean).join(" ");
  return (
    <li class={cls}>
      <button
        type="button"
        class="ev-line"
        aria-expanded={open.value}
        title={`${event.name}, seq ${event.seq}, from ${event.source}`}
        onClick={() => {
          open.value = !open.value;
        }}
      >
        <time>{clockTime(step.at, true)}</time>
        <Icon name={icon} />
        <span class="t">
          {agent && <b>{agent} </b>}
          {textOf(event)}
        </span>
        <span class={failed ? "r bad" : end ? "r ok" : "r"}>
          {failed ? <Icon name="x" small /> : end ? <Icon name="check" small /> : null}
          {failed && (
            <span class="clip" title={end?.summary ?? undefined}>
              {failure(step)}
              {ms !== null && ","}
            </span>
          )}
          {ms !== null && took(ms)}
        </span>
      </button>
      {open.value && (
        <pre class="raw" tabIndex={0}>
          {rawText(event, end)}
        </pre>
      )}
    </li>
  );
}

const textOf = ({ name, summary }: TimelineEvent) =>
  name === "PermissionRequest" && summary ? `Asks permission for ${summary}` : summary || name;

/** The end of a call repeats its summary; only the error is new. */
const failure = ({ event, end }: Step) => end?.summary?.replace(`${event.summary} failed: `, "") || "failed";

const took = (ms: number) =>
  ms < 60_000
    ? `${(ms / 1000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;

function rawText(event: TimelineEvent, end: TimelineEvent | null): string {
  const show = (e: TimelineEvent) => JSON.stringify(e.payload === undefined ? e : e.payload, null, 2);
  return end ? `${show(event)}\n\n// ${end.name}\n${show(end)}` : show(event);
}
