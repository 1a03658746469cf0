/** An ended session as a row in Done. */
import { humanize, usd } from "../lib/format";
import { sessionHref } from "../lib/route";
import { sessionSignal } from "../live/store";
import { Icon, WireIcon } from "../ui/Icon";
import { Ago } from "../ui/Timer";
import { CardFrame } from "./CardFrame";

export function DoneRow({ id, inProject }: { id: string; inProject: boolean }) {
  const session = sessionSignal(id)?.value;
  if (!session) return null;
  const { agent_state, end_reason, ended_at, project, cost } = session;
  const died = end_reason === "process_died";
  return (
    <CardFrame session={session} class={died ? "done died" : "done"}>
      {died ? <Icon name="died" /> : <WireIcon name={agent_state.icon} />}
      <h3 class="name clip">
        <a href={sessionHref(id)} tabIndex={-1}>
          {session.title ?? "No prompt yet"}
        </a>
      </h3>
      <span class="cost">{cost && usd(cost.usd_micros)}</span>
      <p class="sub">
        {!inProject && (
          <>
            <span>{project.name}</span>
            <span aria-hidden="true">·</span>
          </>
        )}
        <span class="clip">
          {died ? <b>Process died</b> : (endText(end_reason) ?? agent_state.label)}{" "}
          {ended_at && <Ago at={ended_at} />}
        </span>
      </p>
    </CardFrame>
  );
}

const ENDS: Record<string, string> = {
  prompt_input_exit: "Exited",
  clear: "Cleared",
  logout: "Logged out",
  resume: "Resumed elsewhere",
  other: "Ended",
};

const endText = (reason: string | null) => (reason === null ? null : (ENDS[reason] ?? humanize(reason)));
