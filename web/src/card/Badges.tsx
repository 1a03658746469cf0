/** Badges of a card: subagents, background work, queued prompts, the last failure. */
import type { Session } from "../generated/Session";
import type { SubAgent } from "../generated/SubAgent";
import { time } from "../lib/clock";
import { duration, plural } from "../lib/format";
import { Icon } from "../ui/Icon";
import { Elapsed } from "../ui/Timer";

/** Most subagents shown on a card; the drawer shows all. */
const PILLS_MAX = 4;

export function Badges({ session }: { session: Session }) {
  const { background, queued_prompts, last_failure, failure_is_past, sub_agents } = session;
  const live = sub_agents.filter((a) => a.state !== "done");
  const pills = (live.length > 0 ? [...live, ...sub_agents.filter((a) => a.state === "done")] : []).slice(
    0,
    PILLS_MAX,
  );
  const more = live.length - pills.length;
  if (!pills.length && !background?.agents && !background?.shells && !queued_prompts && !last_failure)
    return null;
  return (
    <div class="badges">
      {pills.map((agent) => (
        <Pill key={agent.id} agent={agent} />
      ))}
      {more > 0 && <span class="pill">{more} more</span>}
      {!!background?.agents && (
        <span class="chip">
          <Icon name="clock" small />
          <span class="clip">{plural(background.agents, "background agent")}</span>
        </span>
      )}
      {!!background?.shells && (
        <span class="chip">
          <Icon name="shell" small />
          <span class="clip">{plural(background.shells, "background shell")}</span>
        </span>
      )}
      {queued_prompts > 0 && (
        <span class="chip">
          <Icon name="queue" small />
          <span class="clip">{plural(queued_prompts, "queued prompt")}</span>
        </span>
      )}
      {last_failure && (
        <span
          class={failure_is_past ? "chip past" : "chip fail"}
          title={[failure_is_past && "The agent went on since.", last_failure.error]
            .filter(Boolean)
            .join(" ")}
        >
          <Icon name="died" small />
          <span class="clip">
            Failed: {[last_failure.tool, firstLine(last_failure.error)].filter(Boolean).join(", ")}
          </span>
        </span>
      )}
    </div>
  );
}

const firstLine = (text: string | null) => text?.split("\n")[0];

function Pill({ agent }: { agent: SubAgent }) {
  const icon =
    agent.state === "blocked" ? "shield" : agent.state === "done" ? "check" : agent.label ? "tool" : "spark";
  const cls = agent.state === "blocked" ? "pill blocked" : agent.state === "done" ? "pill ended" : "pill";
  return (
    <span class={cls} title={agent.label ?? undefined}>
      <Icon name={icon} small spin={icon === "spark"} />
      <b>{agent.type}</b>
      <span class="clip">
        {agent.state === "done" && agent.started_at && agent.ended_at ? (
          duration(time(agent.ended_at) - time(agent.started_at))
        ) : agent.started_at ? (
          <Elapsed since={agent.started_at} />
        ) : (
          agent.label
        )}
      </span>
    </span>
  );
}
