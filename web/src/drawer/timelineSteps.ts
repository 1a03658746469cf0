/** Turns events into timeline rows: a tool call and its end become one row with a duration. */
import type { TimelineEvent } from "../generated/TimelineEvent";
import { time } from "../lib/clock";
import type { IconName } from "../ui/icons";

export type Step = {
  event: TimelineEvent;
  end: TimelineEvent | null;
  at: number;
  icon: IconName;
  failed: boolean;
  said: boolean;
  /** A guard rule or the heartbeat of an effort denied a call. */
  denied: boolean;
  /** How a request was answered here, such as "deny (web)", and what was written with it. */
  answer: { text: string; message: string | null } | null;
};

const ICON_BY_NAME: [RegExp, IconName][] = [
  [/^UserPromptSubmit/, "you"],
  [/^PermissionRequest|^PermissionDenied/, "shield"],
  [/^Elicitation/, "form"],
  [/^PreCompact|^PostCompact/, "fold"],
  [/^Subagent/, "branch"],
  [/^StopFailure/, "triangle"],
  [/^Stop/, "finished"],
  [/^SessionStart|^Setup/, "fresh"],
  [/^SessionEnd/, "check"],
  [/^PostModelSwitch/, "model"],
  [/^Notification/, "bell"],
  [/ToolUse/, "tool"],
  [/[Aa]nswer|^verdict_given/, "rule"],
  [/^ask_gone/, "pane"],
  [/^registry|^Registry/, "pane"],
  [/^process_gone/, "died"],
  [/^Task/, "plan"],
];

const iconFor = (name: string): IconName =>
  ICON_BY_NAME.find(([pattern]) => pattern.test(name))?.[1] ?? "queue";

const toolIcon = (event: TimelineEvent): IconName | null => {
  const tool = (event.payload as { tool_name?: string } | undefined)?.tool_name ?? "";
  if (!/ToolUse/.test(event.name)) return null;
  return /Edit|Write/.test(tool)
    ? "edit"
    : /Grep|Glob|Search/.test(tool)
      ? "search"
      : /Read/.test(tool)
        ? "file"
        : null;
};

const callId = (event: TimelineEvent): string | null => {
  const id = (event.payload as { tool_use_id?: unknown } | undefined)?.tool_use_id;
  return typeof id === "string" ? id : null;
};

/** The daemon names the rule in `denied_by`; `summary` has it too. */
const isDenial = (event: TimelineEvent): boolean =>
  event.name === "verdict_given" && typeof event.payload?.denied_by === "string";

const askId = (event: TimelineEvent) => String((event.payload as { ask_id?: unknown } | undefined)?.ask_id);

function messageOf(event: TimelineEvent): string | null {
  const { answer } = (event.payload ?? {}) as { answer?: { message?: unknown } };
  return typeof answer?.message === "string" && answer.message !== "" ? answer.message : null;
}

/** Newest first. A call without an end is shown as open. */
export function stepsFrom(events: TimelineEvent[]): Step[] {
  const open = new Map<string, Step>();
  const steps: Step[] = [];
  const asked = new Map<string, Step>();
  for (const event of events) {
    // Opening the drawer is not an event of the session.
    if (event.source === "user" && event.name === "seen") continue;
    // Such an event only says that the transcript grew.
    if (event.source === "transcript") continue;
    // The calls of a batch have their own rows.
    if (event.name === "PostToolBatch") continue;
    const request = event.name === "answered" ? asked.get(askId(event)) : undefined;
    if (request) {
      request.answer = { text: event.summary, message: messageOf(event) };
      continue;
    }
    const id = callId(event);
    const begun = id && /^PostToolUse/.test(event.name) ? open.get(id) : undefined;
    if (begun) {
      begun.end = event;
      begun.failed = event.name === "PostToolUseFailure";
      continue;
    }
    const step: Step = {
      event,
      end: null,
      at: time(event.fired_at ?? event.received_at),
      icon:
        toolIcon(event) ??
        (event.name === "UserPromptSubmit" && !event.by_person ? "clock" : iconFor(event.name)),
      failed: /Failure$/.test(event.name),
      said: event.by_person,
      denied: isDenial(event),
      answer: null,
    };
    // An ask has the id of the event that opened it.
    if (/^(PermissionRequest|Elicitation)$/.test(event.name)) asked.set(event.id, step);
    if (id && event.name === "PreToolUse") open.set(id, step);
    steps.push(step);
  }
  return steps.reverse();
}

export function stepMs({ event, end }: Step): number | null {
  if (!end) return null;
  return time(end.fired_at ?? end.received_at) - time(event.fired_at ?? event.received_at);
}
