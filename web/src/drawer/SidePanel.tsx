/** The side panel of the drawer: states, context, cost, agents, to-dos, files. */

import { agentType } from "../card/headline";
import { CostMetric } from "../card/Metrics";
import type { Explanation } from "../generated/Explanation";
import type { NumbersPoint } from "../generated/NumbersPoint";
import type { Session } from "../generated/Session";
import type { SubAgent } from "../generated/SubAgent";
import type { TimelineEvent } from "../generated/TimelineEvent";
import { time } from "../lib/clock";
import { duration, modelName, plural, tokens, usd } from "../lib/format";
import { Icon, WireIcon } from "../ui/Icon";
import { Gauge, isHigh, Pips } from "../ui/Meters";
import { Elapsed } from "../ui/Timer";
import { Chart, type Point } from "./Chart";
import { useNumbers } from "./drawerData";
import { StateHistory } from "./StateHistory";
import { filesTouched } from "./touchedFiles";

type SidePanelProps = { session: Session; explanation: Explanation | null; events: TimelineEvent[] };

export function SidePanel({ session, explanation, events }: SidePanelProps) {
  const numbers = useNumbers(session);
  return (
    <div class="drawer-side" tabIndex={0} role="region" aria-label="Measures">
      <StateHistory session={session} explanation={explanation} />
      <Context session={session} numbers={numbers} />
      <Cost session={session} numbers={numbers} />
      <Agents session={session} />
      <Todos session={session} />
      <Files session={session} events={events} />
    </div>
  );
}

type Measure = { session: Session; numbers: NumbersPoint[] };

/** Shortest time span worth a chart. */
const CHART_MIN_MS = 30_000;

function pointsOf(numbers: NumbersPoint[], pick: "usd_micros" | "context_tokens"): Point[] {
  const all = numbers.flatMap((n) => (n[pick] === null ? [] : [{ at: time(n.at), value: n[pick] }]));
  const [first, last] = [all[0], all.at(-1)];
  return first && last && last.at - first.at >= CHART_MIN_MS ? all : [];
}

const highest = (points: Point[]) => points.reduce((most, p) => Math.max(most, p.value), 1);

function Context({ session, numbers }: Measure) {
  const { context } = session;
  if (!context) return null;
  const { percent: exact, window } = context;
  const percent = exact === null ? null : Math.round(exact);
  const seen = pointsOf(numbers, "context_tokens");
  return (
    <>
      <h3 class="sect">
        Context
        <span class="aside">
          {percent !== null && <b>{percent}%</b>}
          {tokens(context.tokens)}
          {window !== null && ` of ${tokens(window)}`} tokens
        </span>
      </h3>
      {percent !== null && (
        <div class={isHigh(percent) ? "bar-line is-high" : "bar-line"}>
          <Gauge percent={percent} />
        </div>
      )}
      <Chart
        points={seen}
        max={Math.max(window ?? 0, highest(seen) * 1.1)}
        label={`Context over time: ${tokens(context.tokens)} tokens now`}
      />
    </>
  );
}

function Cost({ session, numbers }: Measure) {
  const { cost, tokens: used } = session;
  if (!cost) return null;
  const most = Math.max(1, ...cost.by_model.map((m) => m.usd_micros));
  const seen = pointsOf(numbers, "usd_micros");
  return (
    <>
      <h3 class="sect">
        Cost
        <span class="aside">
          <b>{usd(cost.usd_micros)}</b>
          {cost.client_usd_micros !== null && `the client says ${usd(cost.client_usd_micros)}`}
        </span>
      </h3>
      <Chart points={seen} max={highest(seen) * 1.1} label={`Cost over time: ${usd(cost.usd_micros)} now`} />
      <ul class="mini">
        {cost.by_model.map((m) => (
          <li key={m.model}>
            <span>{modelName(m.model)}</span>
            <Gauge percent={(m.usd_micros / most) * 100} />
            <span>{usd(m.usd_micros)}</span>
          </li>
        ))}
        {cost.unpriced_models.map((m) => (
          <li key={m}>
            <span>{modelName(m)}</span>
            <span class="dim">price not known</span>
          </li>
        ))}
      </ul>
      {used && (
        <p class="token-line">
          {tokens(used.input)} in, {tokens(used.output)} out, {tokens(used.cache_read)} from cache,{" "}
          {tokens(used.cache_creation_5m + used.cache_creation_1h)} into cache
        </p>
      )}
    </>
  );
}

function Agents({ session }: { session: Session }) {
  const { sub_agents } = session;
  if (sub_agents.length === 0) return null;
  return (
    <>
      <h3 class="sect">
        Agents<span class="aside">{sub_agents.length + 1}</span>
      </h3>
      <ul class="tree">
        <li class="working">
          <span class="n">
            <WireIcon name={session.agent_state.icon} small />
            <b>Main</b>
            <em class="clip">{session.status.detail ?? session.agent_state.label}</em>
          </span>
        </li>
        {sub_agents.map((agent) => (
          <Agent key={agent.id} agent={agent} name={agentType(session, agent.id) ?? agent.type} />
        ))}
      </ul>
    </>
  );
}

const AGENT_ICONS: Partial<Record<SubAgent["state"], "shield" | "check" | "died">> = {
  blocked: "shield",
  done: "check",
  failed: "died",
};

function Agent({ agent, name }: { agent: SubAgent; name: string }) {
  const icon = AGENT_ICONS[agent.state] ?? "tool";
  const took =
    agent.started_at && agent.ended_at ? duration(time(agent.ended_at) - time(agent.started_at)) : null;
  return (
    <li class={`sub ${agent.state}`}>
      <span class="n">
        <Icon name={icon} small />
        <b>{name}</b>
        <em class="clip" title={agent.label}>
          {agent.label}
        </em>
      </span>
      <span class="c">{took ?? (agent.started_at && <Elapsed since={agent.started_at} />)}</span>
      <CostMetric cost={agent.cost} of="this agent" />
      <AgentTask agent={agent} />
    </li>
  );
}

/** What the subagent was started for. Its whole task and the call that started it are folded. */
function AgentTask({ agent: { description, prompt, tool_use_id } }: { agent: SubAgent }) {
  const line = description ?? firstLine(prompt);
  if (prompt === null && tool_use_id === null) return line && <p class="task">{line}</p>;
  return (
    <details class="task">
      <summary>{line ?? "Its call"}</summary>
      {prompt !== null && (
        <pre class="raw" tabIndex={0}>
          {prompt}
        </pre>
      )}
      {tool_use_id !== null && (
        <p class="dim">
          Started by <code>{tool_use_id}</code>
        </p>
      )}
    </details>
  );
}

const firstLine = (text: string | null) => text?.trim().split("\n")[0] || null;

function Todos({ session: { progress_items: items } }: { session: Session }) {
  if (items.length === 0) return null;
  const done = items.filter((i) => i.status === "completed").length;
  return (
    <>
      <h3 class="sect">
        To-dos
        <span class="aside">
          <Pips done={done} of={items.length} />
          {done} of {items.length}
        </span>
      </h3>
      <ul class="mini">
        {items.map((item) => (
          <li
            key={item.id}
            class={item.status === "completed" ? "was" : item.status === "in_progress" ? "now" : undefined}
          >
            <Icon
              name={item.status === "completed" ? "check" : item.status === "in_progress" ? "right" : "fresh"}
              small
            />
            <span class="clip" title={item.title}>
              {item.title}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

const FILES_MAX = 12;

/**
 * The daemon counts files in the transcript. If it has none, they are taken from the tool calls in the
 * timeline.
 */
function Files({ session, events }: { session: Session; events: TimelineEvent[] }) {
  const edited = filesTouched(events);
  const paths = session.files_touched.length > 0 ? session.files_touched : edited.map((file) => file.path);
  if (paths.length === 0) return null;
  const times = new Map(edited.map((file) => [file.path, file.times]));
  return (
    <>
      <h3 class="sect">
        Files touched<span class="aside">{Math.max(session.files_touched_total, paths.length)}</span>
      </h3>
      <ul class="mini">
        {paths.slice(0, FILES_MAX).map((path) => (
          <li key={path}>
            <Icon name="file" small />
            <span class="clip path" title={path}>
              <bdi>{path}</bdi>
            </span>
            {times.has(path) && <span class="dim">{plural(times.get(path) ?? 0, "edit")}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}
