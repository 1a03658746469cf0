/** The states of one session over time, from the history in its explanation. */

import { roleAppearance } from "../card/appearance";
import type { Explanation } from "../generated/Explanation";
import type { Session } from "../generated/Session";
import { now, time } from "../lib/clock";
import { clockTime, humanize } from "../lib/format";
import { StateSegment } from "../overview/StateSegment";

export function StateHistory({
  session,
  explanation,
}: {
  session: Session;
  explanation: Explanation | null;
}) {
  const steps = explanation?.history ?? [];
  const first = steps[0];
  if (!first) return null;
  const from = time(first.at);
  const to = session.ended_at ? time(session.ended_at) : now.value;
  return (
    <>
      <h3 class="sect">
        States
        <span class="aside">
          {clockTime(from)} to {session.ended_at ? clockTime(to) : "now"}
        </span>
      </h3>
      <div class="track" role="img" aria-label={`${steps.length} changes of state`}>
        {steps.map((step, i) => {
          const next = steps[i + 1];
          return (
            <StateSegment
              key={`${step.at}${i}`}
              appearance={roleAppearance(step.role)}
              state={step.to}
              from={time(step.at)}
              to={next ? time(next.at) : to}
              start={from}
              end={to}
              title={humanize(step.to)}
            />
          );
        })}
      </div>
    </>
  );
}
