/** Phases as a line. Done, current and coming ones differ in shape, not only in colour. */
import type { PhaseStanding } from "../generated/PhaseStanding";
import type { PhaseStep } from "../generated/PhaseStep";
import { now, time } from "../lib/clock";
import { clockTime, lastedText } from "../lib/format";
import { Icon } from "../ui/Icon";

const WORDS: Record<PhaseStanding, string> = {
  done: "done",
  now: "now",
  to_come: "to come",
  skipped: "skipped",
};

/** `detailed`: with times, and the proof of the phase before. */
export function PhaseLine({ line, detailed = false }: { line: PhaseStep[]; detailed?: boolean }) {
  if (line.length === 0) return null;
  return (
    <ol class={detailed ? "steps detailed" : "steps"} aria-label="Phases">
      {line.map((step) => (
        <li key={step.name} class={`is-${step.standing}`} title={detailed ? undefined : titleOf(step)}>
          <i>{step.standing === "done" && <Icon name="check" />}</i>
          <span class="sr">{WORDS[step.standing]}: </span>
          <span class="name clip">{step.name}</span>
          {detailed && <StepTimes step={step} />}
        </li>
      ))}
    </ol>
  );
}

const titleOf = ({ name, standing }: PhaseStep) => `${name}, ${WORDS[standing]}`;

function StepTimes({ step: { standing, entered_at, left_at, proof } }: { step: PhaseStep }) {
  if (entered_at === null) return <small>{WORDS[standing]}</small>;
  const end = left_at === null ? now.value : time(left_at);
  return (
    <>
      <small>
        {clockTime(time(entered_at))}, {lastedText(Math.max(0, end - time(entered_at)))}
      </small>
      {proof && (
        <small class="proof" title={`Why the phase before was complete: ${proof}`}>
          <span class="sr">Proof of the phase before: </span>
          {proof}
        </small>
      )}
    </>
  );
}
