/** Calls since the last log entry, out of those that are allowed. It is bright when full: then calls are denied until the agent logs. */
import { plural } from "../lib/format";
import { Icon } from "../ui/Icon";
import { Pips } from "../ui/Meters";

export type Beat = { heartbeat: number; heartbeat_limit: number; held: boolean };

export function Heartbeat({ beat: { heartbeat, heartbeat_limit: limit, held } }: { beat: Beat }) {
  if (limit === 0)
    return (
      <span class="heartbeat" title="Calls since the last log entry; no limit">
        <Icon name="beat" small />
        {heartbeat}
      </span>
    );
  return (
    <span
      class={held ? "heartbeat is-full" : "heartbeat"}
      role="meter"
      aria-label="Heartbeat"
      aria-valuenow={Math.min(heartbeat, limit)}
      aria-valuemin={0}
      aria-valuemax={limit}
      title={`${plural(heartbeat, "call")} since the last log entry; the call that reaches ${limit} is held`}
    >
      <Icon name="beat" small />
      <Pips done={Math.min(heartbeat, limit)} of={limit} />
      {heartbeat}/{limit}
    </span>
  );
}
