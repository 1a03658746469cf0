/** One effort of the list: its phase, its windows, its heartbeat, what was denied and what it cost. */
import type { Effort } from "../generated/Effort";
import { plural } from "../lib/format";
import { effortHref } from "../lib/route";
import { rowFocus } from "../lib/selection";
import { Icon, WireIcon } from "../ui/Icon";
import { doing, numbersOf, openWindow, sessionOf } from "./current";
import { EffortCost } from "./EffortCost";
import { Heartbeat } from "./Heartbeat";
import { PhaseLine } from "./PhaseLine";
import { WindowSegments } from "./WindowSegments";

export function EffortRow({ effort, isShown }: { effort: Effort; isShown: boolean }) {
  const session = sessionOf(openWindow(effort));
  const { label, icon, tone } = doing(effort, session);
  return (
    <a
      class={`effort-row tone-${tone}`}
      href={effortHref(effort.id)}
      aria-current={isShown ? "true" : undefined}
      data-effort={effort.id}
      {...rowFocus(session?.id ?? null)}
    >
      <span class="effort-head">
        <code>
          {effort.skill} {effort.ordinal}
        </code>
        <b class="clip" title={effort.title}>
          {effort.title}
        </b>
        <span class="dim clip">{effort.project.name}</span>
        <span class="doing">
          <WireIcon name={icon} small />
          <span class="clip">{label}</span>
        </span>
      </span>
      <PhaseLine line={effort.line} />
      <span class="effort-foot">
        <WindowSegments effort={effort} />
        {effort.lifecycle === "active" && <Heartbeat beat={numbersOf(effort, session)} />}
        <Denied effort={effort} />
        <EffortCost cost={effort.cost} />
      </span>
    </a>
  );
}

export const deniedCalls = ({ denials }: Effort): number =>
  denials.reduce((sum, { count }) => sum + count, 0);

function Denied({ effort }: { effort: Effort }) {
  const calls = deniedCalls(effort);
  return (
    <span class="denied" title={calls > 0 ? `${plural(calls, "call")} denied` : "No call was denied"}>
      <Icon name="rule" small />
      {calls > 0 ? `${calls} denied` : "none denied"}
    </span>
  );
}
