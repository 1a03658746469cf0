/** What happened in an effort, newest first: phases, log entries, handoffs, denials, messages. */
import { useSignal } from "@preact/signals";
import type { Effort } from "../generated/Effort";
import type { EffortMessage } from "../generated/EffortMessage";
import { now, time } from "../lib/clock";
import { clockTime, humanize } from "../lib/format";
import { dayName, dayOf } from "../log/groups";
import { Segmented } from "../ui/Button";
import { Icon } from "../ui/Icon";
import type { IconName } from "../ui/icons";

const FIRST = 40;

/** `code` is true if the text is a tool call. */
type Kind = { label: string; icon: IconName; tone?: "deny" | "fail"; code?: boolean };

const KINDS: Record<string, Kind> = {
  log: { label: "Logged", icon: "entry" },
  phase: { label: "Phase", icon: "phase" },
  handoff: { label: "Handed over", icon: "handoff" },
  handoff_delivered: { label: "Handoff delivered", icon: "inject" },
  denial: { label: "Denied by guard", icon: "rule", tone: "deny", code: true },
  held: { label: "Held until it logs", icon: "beat", code: true },
  dialogue: { label: "Asked you", icon: "question" },
  failure: { label: "Failed", icon: "died", tone: "fail", code: true },
  todo: { label: "To-do done", icon: "check" },
  signal: { label: "Signal", icon: "bell" },
  injection: { label: "Injected", icon: "inject" },
  finished: { label: "Finished", icon: "finished" },
};

/** A kind that a sender chose is shown as it is. */
export const kindOf = (kind: string): Kind => KINDS[kind] ?? { label: humanize(kind), icon: "asks" };

export function EffortTimeline({ effort }: { effort: Effort }) {
  const only = useSignal<"all" | "log">("all");
  const shown = useSignal(FIRST);
  const all = only.value === "log" ? logMessages(effort) : effort.timeline;
  const rows = all.slice(-shown.value).reverse();
  return (
    <section aria-label="Timeline of the effort">
      <h2>
        Timeline <span>newest first</span>
        <Segmented
          name="Timeline"
          value={only.value}
          onChange={(value) => {
            only.value = value;
          }}
          choices={[
            { value: "all", label: "All" },
            { value: "log", label: `Log ${effort.log_entries}` },
          ]}
        />
      </h2>
      {rows.length === 0 && <p class="dim">{only.value === "log" ? "No log entry yet." : "Nothing yet."}</p>}
      <ol class="effort-events">
        {rows.map((message) => (
          <MessageRow key={message.id} message={message} effort={effort} />
        ))}
      </ol>
      {all.length > rows.length && (
        <button
          type="button"
          class="btn ghost"
          onClick={() => {
            shown.value += 5 * FIRST;
          }}
        >
          {all.length - rows.length} earlier
        </button>
      )}
    </section>
  );
}

/** The log goes further back than the timeline. */
const logMessages = ({ log }: Effort): EffortMessage[] =>
  log.map(({ at, text }, i) => ({ id: `log-${i}-${at}`, at, kind: "log", text, window: null }));

function MessageRow({ message, effort }: { message: EffortMessage; effort: Effort }) {
  const { label, icon, tone, code } = kindOf(message.kind);
  const window = effort.windows.find(({ id }) => id === message.window);
  return (
    <li class={tone} data-kind={message.kind}>
      <time dateTime={message.at} title={new Date(message.at).toLocaleString("en-GB")}>
        {timeText(message.at)}
      </time>
      <Icon name={icon} />
      <div>
        <b>{label}</b> {code ? <code>{message.text}</code> : <span class="text">{message.text}</span>}
        {window?.number != null && <small> window {window.number}</small>}
      </div>
    </li>
  );
}

/** The day is named unless it is today. */
function timeText(iso: string): string {
  const at = time(iso);
  const day = dayOf(at);
  const clock = clockTime(at);
  return day === dayOf(now.peek()) ? clock : `${dayName(day, now.peek()).date}, ${clock}`;
}
