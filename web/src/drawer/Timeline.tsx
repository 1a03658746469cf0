import { useComputed, useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { ToolInputView } from "../ask/ToolInputView";
import { toolInput } from "../ask/toolInput";
import { agentType } from "../card/headline";
import type { Session } from "../generated/Session";
import type { TimelineEvent } from "../generated/TimelineEvent";
import { clockTime, plural } from "../lib/format";
import { Icon } from "../ui/Icon";
import { Markdown } from "../ui/Markdown";
import { useMoment } from "./moment";
import { RawJson } from "./RawJson";
import { type Step, stepMs, stepsFrom } from "./timelineSteps";

const FIRST = 80;
const MORE = 200;

type TimelineProps = { session: Session; events: TimelineEvent[]; loadOlder: (() => void) | null };

export function Timeline({ session, events, loadOlder }: TimelineProps) {
  const shown = useSignal(FIRST);
  const source = useSignal(events);
  source.value = events;
  const steps = useComputed(() => stepsFrom(source.value));
  const marked = useSignal<string | null>(null);
  useMoment(steps, shown, marked);
  return (
    <section aria-label="Timeline">
      <h3 class="sect">
        Timeline<span class="aside">{plural(events.length, "event")}</span>
      </h3>
      {events.length === 0 && <p class="dim">No event recorded yet.</p>}
      <ol class="timeline">
        {steps.value.slice(0, shown.value).map((step) => (
          <StepRow
            key={step.event.id}
            step={step}
            session={session}
            isMarked={step.event.id === marked.value}
          />
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
      {steps.value.length <= shown.value && loadOlder && (
        <button type="button" class="btn ghost" onClick={loadOlder}>
          Load earlier events
        </button>
      )}
    </section>
  );
}

type StepRowProps = { step: Step; session: Session; isMarked: boolean };

/** The marked row is the moment that the session was opened at. */
function StepRow({ step, session, isMarked }: StepRowProps) {
  const open = useSignal(false);
  const row = useRef<HTMLLIElement>(null);
  useLayoutEffect(() => {
    if (isMarked) row.current?.scrollIntoView({ block: "center" });
  }, [isMarked]);
  const { event, end, icon, failed, said, denied } = step;
  const agent = agentType(session, event.agent_id);
  const ms = stepMs(step);
  const cls = ["ev", said && "you", denied && "denied", event.agent_id && "child"].filter(Boolean).join(" ");
  return (
    <li class={cls} ref={row} data-moment={isMarked || undefined}>
      <button
        type="button"
        class="ev-line"
        aria-current={isMarked ? "true" : undefined}
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
          {step.answer && (
            <span class="clip" title={step.answer.message ?? undefined}>
              {step.answer.text}
              {step.answer.message && `: ${step.answer.message}`}
            </span>
          )}
        </span>
      </button>
      {open.value && <StepDetails step={step} />}
    </li>
  );
}

/** A readable view of the event. Its JSON is behind a button. */
function StepDetails({ step }: { step: Step }) {
  const { event, end } = step;
  const payload = event.payload ?? {};
  const result = resultText(end);
  const words = [payload.prompt, payload.last_assistant_message, payload.message].find(
    (text): text is string => typeof text === "string" && text !== "",
  );
  return (
    <div class="ev-details">
      {typeof payload.tool_input === "object" && payload.tool_input !== null && (
        <ToolInputView
          input={toolInput({ tool_input: payload.tool_input as Record<string, unknown>, kind: "permission" })}
        />
      )}
      {words !== undefined && <Markdown text={words} />}
      {step.answer?.message && <p>Answered with: {step.answer.message}</p>}
      {result && (
        <pre class="raw" tabIndex={0}>
          {result}
        </pre>
      )}
      <RawJson label="Raw JSON" text={() => rawText(event, end)}>
        {event.name} from {event.source}, seq {event.seq}
      </RawJson>
    </div>
  );
}

/** Most characters of a result that are shown; the raw JSON has all that the log keeps. */
const RESULT_CHARS_MAX = 4_000;

/** What a tool returned: its output or its error. */
function resultText(end: TimelineEvent | null): string | null {
  const { tool_response, error } = (end?.payload ?? {}) as { tool_response?: unknown; error?: unknown };
  const { stdout, stderr, content } = (
    typeof tool_response === "object" && tool_response !== null ? tool_response : {}
  ) as Record<string, unknown>;
  const parts = [error, tool_response, stdout, stderr, content].filter(
    (part): part is string => typeof part === "string" && part.trim() !== "",
  );
  return parts.length > 0 ? parts.join("\n").slice(0, RESULT_CHARS_MAX) : null;
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
