import type { Session } from "../generated/Session";
import type { TimelineEvent } from "../generated/TimelineEvent";
import { clockTime } from "../lib/format";
import { Icon } from "../ui/Icon";
import { Markdown } from "../ui/Markdown";
import { saidIn } from "./Conversation";

/** What Claude said last, in full, while the session waits for the person. */
export function LastSaid({ session, events }: { session: Session; events: TimelineEvent[] }) {
  if (session.waiting === null || session.last_assistant_text === null) return null;
  const last = saidIn(events).at(-1);
  const whole = last && !last.you ? last : null;
  return (
    <section class="last-message" aria-label="Last message">
      <h3 class="sect">
        Claude said last
        <span class="aside">
          {session.waiting.kind === "asks" && (
            <span class="chip attn">
              <Icon name="asks" small />
              ends in a question
            </span>
          )}
          {whole && <time>{clockTime(whole.at, true)}</time>}
        </span>
      </h3>
      <Markdown text={whole?.text ?? session.last_assistant_text} />
    </section>
  );
}
