/** An ended session as a row in Done. */
import { useComputed } from "@preact/signals";
import { cursor, tabStops } from "../keys/cursor";
import { humanize, usd } from "../lib/format";
import { sessionHref } from "../lib/route";
import { sessionSignal } from "../live/store";
import { Icon, WireIcon } from "../ui/Icon";
import { Ago } from "../ui/Timer";
import { openOnClick } from "./openOnClick";

export function DoneRow({ id, inProject }: { id: string; inProject: boolean }) {
  const session = sessionSignal(id)?.value;
  const current = useComputed(() => (cursor.value === id ? "true" : undefined));
  const tab = useComputed(() => (tabStops.value.has(id) ? 0 : -1));
  if (!session) return null;
  const { agent_state, end_reason, ended_at, project, cost } = session;
  const died = end_reason === "process_died";
  return (
    <article
      class={died ? "done died" : "done"}
      data-card={id}
      data-state={agent_state.state}
      data-group={agent_state.group}
      tabIndex={tab}
      aria-current={current}
      aria-label={`${project.name}: ${agent_state.label}`}
      onFocusIn={() => {
        cursor.value = id;
      }}
      {...openOnClick(id)}
    >
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
    </article>
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
