/** One running session as one line: state, title, what it does now, turn, context, cost. */
import { usd } from "../lib/format";
import { sessionHref } from "../lib/route";
import { sessionSignal } from "../live/store";
import { WireIcon } from "../ui/Icon";
import { isHigh } from "../ui/Meters";
import { Elapsed } from "../ui/Timer";
import { CardFrame } from "./CardFrame";

export function RunningRow({ id, inProject }: { id: string; inProject: boolean }) {
  const session = sessionSignal(id)?.value;
  if (!session) return null;
  const { agent_state, project, context, cost, quiet_since } = session;
  const percent = context?.percent == null ? null : Math.round(context.percent);
  return (
    <CardFrame session={session} class="running-row">
      <WireIcon name={agent_state.icon} small />
      <h3 class="name clip">
        <a href={sessionHref(id)} tabIndex={-1} title={session.title ?? undefined}>
          {!inProject && <span class="dim">{project.name} </span>}
          {session.title ?? "No prompt yet"}
        </a>
      </h3>
      <span class="now clip" title={agent_state.label}>
        {quiet_since ? "quiet" : agent_state.label}
      </span>
      <Elapsed since={session.current_turn_started_at ?? agent_state.since} />
      <span class={percent !== null && isHigh(percent) ? "n is-high" : "n"}>
        {percent !== null && `${percent}%`}
      </span>
      <span class="n">{cost && usd(cost.usd_micros)}</span>
    </CardFrame>
  );
}
