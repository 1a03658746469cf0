/** The newest assignment of a session on its card and in its drawer: title, state, time waited for the person. */
import { useComputed, useSignal } from "@preact/signals";
import type { AssignmentBrief } from "../generated/AssignmentBrief";
import type { Session } from "../generated/Session";
import { now } from "../lib/clock";
import { roundedDuration } from "../lib/format";
import { Icon } from "../ui/Icon";
import { isSameTitle, standing } from "./standing";
import { briefWaitedMs } from "./times";

/** Leaves the title out if the session has the same title. */
export function AssignmentLine({ session }: { session: Session }) {
  const { assignment, title } = session;
  if (!assignment) return null;
  const { label, icon, tone } = standing(assignment);
  const own = isSameTitle(assignment.title, title) ? null : assignment.title;
  // The head of the card says already that it works or waits, and since when.
  const isOver = assignment.state === "complete";
  if (own === null && !isOver && briefWaitedMs(assignment, 0) < WAITED_MIN_MS) return null;
  return (
    <p class={`assignment tone-${tone}`}>
      <Icon name={icon} small />
      <span class="clip" title={assignment.title}>
        <span class="sr">Assignment: </span>
        <b>{label}</b>
        {own && ` ${own}`}
      </span>
      <Waited assignment={assignment} />
    </p>
  );
}

const WAITED_MIN_MS = 1_000;

/** How long the assignment waited for the person, from one second on. */
function Waited({ assignment }: { assignment: AssignmentBrief }) {
  const brief = useSignal(assignment);
  brief.value = assignment;
  const text = useComputed(() => {
    const { state } = brief.value;
    // Only a waiting assignment follows the clock.
    const ms = briefWaitedMs(brief.value, state === "awaiting_input" ? now.value : 0);
    return ms < WAITED_MIN_MS ? "" : `waited ${roundedDuration(ms)}`;
  });
  return (
    <span class="waited" title="How long this assignment waited for you">
      {text}
    </span>
  );
}
