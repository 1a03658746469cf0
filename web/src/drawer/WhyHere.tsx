/** The section "Why is it here": the event, its time, the rule, and the raw payload. */
import { layout } from "../board/currentLayout";
import type { Explanation } from "../generated/Explanation";
import type { Session } from "../generated/Session";
import { time } from "../lib/clock";
import { clockTime } from "../lib/format";
import { ORDERS, sort } from "../lib/preferences";
import { Icon } from "../ui/Icon";
import { RawJson } from "./RawJson";

export function WhyHere({ session, explanation }: { session: Session; explanation: Explanation | null }) {
  const because = explanation?.because;
  // The explanation's state and reason belong together; the card may already have a newer state.
  const { label, group } = explanation ?? session.agent_state;
  return (
    <section aria-label="Why is it here">
      <details>
        <summary>
          <h3 class="sect">
            <Icon name="right" small />
            Why is it here
            <span class="aside">
              <Position session={session} />
            </span>
          </h3>
        </summary>
        <dl class="why-list">
          <dt>State</dt>
          <dd>
            <b>{label}</b>
          </dd>
          {because?.rule && (
            <>
              <dt>Rule</dt>
              <dd>{because.rule}</dd>
            </>
          )}
          {because && (
            <>
              <dt>Event</dt>
              <dd>
                {because.name && <code>{because.name}</code>} from {session.agent_state.source} at{" "}
                {exact(explanation?.since ?? session.agent_state.since)}
                {because.seq != null && `, seq ${because.seq}`}
              </dd>
            </>
          )}
          {group === "needs_you" && (
            <>
              <dt>Order</dt>
              <dd>{ORDERS[sort.value].explains}</dd>
            </>
          )}
        </dl>
        {because?.payload != null && (
          <RawJson label="Raw payload" text={() => JSON.stringify(because.payload, null, 2)} />
        )}
      </details>
    </section>
  );
}

const exact = (iso: string) => `${clockTime(time(iso), true)}.${iso.match(/\.(\d{3})/)?.[1] ?? "000"}`;

function Position({ session }: { session: Session }) {
  const lane = layout.value.lanes.find((l) => l.ids.includes(session.id));
  return lane ? (
    <span>
      Position {lane.ids.indexOf(session.id) + 1} of {lane.ids.length}
    </span>
  ) : null;
}
