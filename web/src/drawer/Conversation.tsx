/**
 * The last messages of the conversation, as far as events carry them: prompts, and the last message of each
 * turn.
 */
import type { TimelineEvent } from "../generated/TimelineEvent";
import { time } from "../lib/clock";
import { clockTime } from "../lib/format";
import { Markdown } from "../ui/Markdown";

export type Said = { id: string; at: number; you: boolean; text: string };

const TAIL = 8;

export function saidIn(events: TimelineEvent[]): Said[] {
  return events.flatMap((event) => {
    const { prompt, last_assistant_message: answer } = event.payload ?? {};
    const text = event.by_person ? prompt : /^Stop/.test(event.name) ? answer : null;
    if (typeof text !== "string" || text === "") return [];
    return [{ id: event.id, at: time(event.fired_at ?? event.received_at), you: event.by_person, text }];
  });
}

export function Conversation({ events }: { events: TimelineEvent[] }) {
  const said = saidIn(events);
  if (said.length === 0) return null;
  return (
    <section aria-label="Conversation">
      <h3 class="sect">
        Conversation
        <span class="aside">{said.length > TAIL ? `last ${TAIL} of ${said.length} messages` : ""}</span>
      </h3>
      <div class="talk">
        {said.slice(-TAIL).map((message) => (
          <div key={message.id} class={message.you ? "msg you" : "msg claude"}>
            <time>{clockTime(message.at, true)}</time>
            <div>
              <Markdown text={message.text} />
            </div>
          </div>
        ))}
      </div>
    </section>
  );
}
