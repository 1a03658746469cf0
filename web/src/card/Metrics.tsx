/** The numbers of a session, at the same place on every card of a lane. Unknown numbers are left out. */
import type { Cost } from "../generated/Cost";
import type { Session } from "../generated/Session";
import { duration, modelName, tokens, usd } from "../lib/format";
import { Icon } from "../ui/Icon";
import { Gauge, isHigh, Pips } from "../ui/Meters";
import { Elapsed, Remaining } from "../ui/Timer";
import { isInTurn } from "./headline";

export function Metrics({ session }: { session: Session }) {
  const few = !session.context && !session.cost && session.cache.status === "unknown";
  return (
    <footer class={few ? "metrics few" : "metrics"}>
      <span class="clip" title={session.model ?? undefined}>
        {session.model && modelName(session.model)}
      </span>
      <ContextMetric session={session} />
      <CostMetric cost={session.cost} of="this session" />
      <CacheMetric session={session} />
      <TurnMetric session={session} />
      <TodoMetric session={session} />
    </footer>
  );
}

function ContextMetric({ session: { context } }: { session: Session }) {
  if (!context) return <span />;
  if (context.percent === null)
    return (
      <span class="ctx" title="Context used; the size of the window is not known">
        {tokens(context.tokens)}
      </span>
    );
  const percent = Math.round(context.percent);
  return (
    <span
      class={isHigh(percent) ? "ctx is-high" : "ctx"}
      role="meter"
      aria-label="Context"
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
      title={`Context: ${used(context)}`}
    >
      <Gauge percent={percent} />
      {percent}%
    </span>
  );
}

const used = ({ tokens: n, window }: NonNullable<Session["context"]>) =>
  window === null ? `${tokens(n)} tokens` : `${tokens(n)} of ${tokens(window)} tokens`;

export function CostMetric({ cost, of }: { cost: Cost | null; of: string }) {
  if (!cost) return <span class="cost" />;
  const unknown = cost.unpriced_models.length > 0;
  if (unknown && cost.usd_micros === 0)
    return (
      <span class="cost dim" title={`No price known for ${cost.unpriced_models.join(", ")}`}>
        no price
      </span>
    );
  return (
    <span
      class="cost"
      title={
        unknown ? `Without ${cost.unpriced_models.join(", ")}, whose price is not known` : `Cost of ${of}`
      }
    >
      {usd(cost.usd_micros)}
      {unknown && "+"}
    </span>
  );
}

function CacheMetric({ session: { cache } }: { session: Session }) {
  if (cache?.status === "warm" && cache.expires_at) {
    return (
      <span class="warm" title="Prompt cache stays warm for">
        <Icon name="warm" small />
        <Remaining until={cache.expires_at} />
      </span>
    );
  }
  if (cache?.status === "cold")
    return (
      <span class="cold" title="Prompt cache has expired">
        <Icon name="cold" small />
        cold
      </span>
    );
  return <span />;
}

function TurnMetric({ session }: { session: Session }) {
  const { current_turn_started_at: start, last_turn_task_seconds: last } = session;
  if (start && isInTurn(session))
    return (
      <span class="turn-d" title={`Turn ${session.turn_count}`}>
        <Icon name="timer" small />
        <Elapsed since={start} />
      </span>
    );
  if (last != null)
    return (
      <span class="turn-d" title="Last turn took">
        <Icon name="timer" small />
        {duration(last * 1000)}
      </span>
    );
  return <span class="turn-d" />;
}

function TodoMetric({ session: { progress_items: items } }: { session: Session }) {
  if (items.length === 0) return <span class="todo" />;
  const done = items.filter((item) => item.status === "completed").length;
  const current = items.find((item) => item.status === "in_progress");
  return (
    <span class="todo" title={current ? `To-do: ${current.title}` : "To-dos done"}>
      <Pips done={done} of={items.length} />
      {done}/{items.length}
    </span>
  );
}
