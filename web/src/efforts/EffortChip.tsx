/** The effort of a session in brief, on its card and in its drawer: skill, phase, heartbeat. A click opens the effort. */
import { useContext } from "preact/hooks";
import type { EffortBrief } from "../generated/EffortBrief";
import { effortHref } from "../lib/route";
import { TabStop } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Heartbeat } from "./Heartbeat";

export function EffortChip({ effort }: { effort: EffortBrief }) {
  const tab = useContext(TabStop);
  const { id, skill, ordinal, phase, window } = effort;
  return (
    <a
      class="chip effort-chip"
      href={effortHref(id)}
      tabIndex={tab}
      title={`Effort ${skill} ${ordinal}, context window ${window}`}
    >
      <Icon name="phase" small />
      <span class="clip">
        {skill} {ordinal}
        {phase && (
          <>
            {" "}
            <b>{phase}</b>
          </>
        )}
      </span>
      <Heartbeat beat={effort} />
    </a>
  );
}
