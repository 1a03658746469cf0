//! The session's own strip of states, from its explanation's history: tall waits, half works, a line idles.
import type { Explanation } from "../generated/Explanation";
import type { Session } from "../generated/Session";
import { lookOf } from "../card/look";
import { now, time } from "../lib/clock";
import { clockTime, words } from "../lib/format";
import { Segment } from "../overview/Segment";

export function StateStrip({ session, explanation }: { session: Session; explanation: Explanation | null }) {
  const steps = explanation?.history ?? [];
  const first = steps[0];
  if (!first) return null;
  const from = time(first.at);
  const to = session.ended_at ? time(session.ended_at) : now.value;
  return (
    <>
      <h3 class="sect">States<span class="aside">{clockTime(from)} to {session.ended_at ? clockTime(to) : "now"}</span></h3>
      <div class="track" role="img" aria-label={`${steps.length} changes of state`}>
        {steps.map((step, i) => {
          const next = steps[i + 1];
          return <Segment key={`${step.at}${i}`} look={lookOf(step.role)} state={step.to} from={time(step.at)} to={next ? time(next.at) : to} start={from} end={to} title={words(step.to)} />;
        })}
      </div>
    </>
  );
}
