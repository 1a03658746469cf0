/** Badges of a card: its effort, its agent type, several terminals, subagents, background work, queued prompts, the last failure. */
import { EffortChip } from "../efforts/EffortChip";
import type { Process } from "../generated/Process";
import type { Session } from "../generated/Session";
import type { SubAgent } from "../generated/SubAgent";
import { time } from "../lib/clock";
import { duration, plural } from "../lib/format";
import { Icon } from "../ui/Icon";
import { Elapsed } from "../ui/Timer";

/** Most subagents shown on a card; the drawer shows all. */
const PILLS_MAX = 4;

export function Badges({ session }: { session: Session }) {
  const { agent_type, background, effort, processes, queued_prompts, last_failure } = session;
  const { failure_is_past, sub_agents } = session;
  const over = (agent: SubAgent) => agent.state === "done";
  // A failed subagent stays on the card: it no longer runs, but the person should see it.
  const live = sub_agents.filter((a) => !over(a));
  const pills = (live.length > 0 ? [...live, ...sub_agents.filter(over)] : []).slice(0, PILLS_MAX);
  const more = live.length - pills.length;
  const work = background?.agents || background?.shells || queued_prompts;
  if (!pills.length && processes.length < 2 && !work && !last_failure && !effort && !agent_type) return null;
  return (
    <div class="badges">
      {effort && <EffortChip effort={effort} />}
      {agent_type && (
        <span class="chip" title={`Runs as the agent ${agent_type}`}>
          <Icon name="model" small />
          <span class="clip">as {agent_type}</span>
        </span>
      )}
      {processes.length > 1 && (
        <span class="chip" title={processes.map(terminal).join("\n")}>
          <Icon name="pane" small />
          <span class="clip">{plural(processes.length, "terminal")}</span>
        </span>
      )}
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
          <span class="clip">{shells(background)}</span>
        </span>
      )}
      {queued_prompts > 0 && (
        <span class="chip">
          <Icon name="queue" small />
          <span class="clip">{queued_prompts} queued</span>
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

/** "1–2 background shells" if one may have ended without a sign of it. */
function shells({ shells, shells_min }: Session["background"]): string {
  const least = Math.max(shells_min, 1);
  return least < shells ? `${least}–${shells} background shells` : plural(shells, "background shell");
}

/** One of several terminals of a session, on one line. */
const terminal = ({ pid, pane, label, shown }: Process) =>
  `${pane ?? `pid ${pid}`}: ${label}${shown ? " (shown here)" : ""}`;

const firstLine = (text: string | null) => text?.split("\n")[0];

const PILL_ICONS: Partial<Record<SubAgent["state"], "shield" | "check" | "died">> = {
  blocked: "shield",
  done: "check",
  failed: "died",
};
const PILL_CLASSES: Partial<Record<SubAgent["state"], string>> = {
  blocked: "pill blocked",
  done: "pill ended",
  failed: "pill failed",
};

/** Longest part of a task in a tooltip; the drawer has all of it. */
const TASK_CHARS_MAX = 600;

/** What the subagent was started for, what it does now, and its task. */
function agentTitle({ description, label, prompt }: SubAgent): string {
  const task = prompt && prompt.length > TASK_CHARS_MAX ? `${prompt.slice(0, TASK_CHARS_MAX)} …` : prompt;
  return [description, label, task && `\n${task}`].filter(Boolean).join("\n");
}

function Pill({ agent }: { agent: SubAgent }) {
  const icon = PILL_ICONS[agent.state] ?? (agent.label ? "tool" : "spark");
  const cls = PILL_CLASSES[agent.state] ?? "pill";
  return (
    <span class={cls} title={agentTitle(agent)}>
      <Icon name={icon} small spin={icon === "spark"} />
      <b>{agent.type}</b>
      <span class="clip">
        {agent.state === "failed" ? (
          agent.label
        ) : agent.state === "done" && agent.started_at && agent.ended_at ? (
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
