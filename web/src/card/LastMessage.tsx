import type { Session } from "../generated/Session";
import { lastWords } from "./lastWords";

/** What Claude said last: two or three lines that keep the last sentence, which is bold if it is a question. */
export function LastMessage({ session }: { session: Session }) {
  const { last_assistant_text: text, waiting } = session;
  if (!text || waiting === null) return null;
  const { lead, last } = lastWords(text);
  const asks = waiting.kind === "asks";
  return (
    <div class="last-said" data-asks={asks ? "" : undefined} title={text}>
      <p>
        {lead} {asks ? <b>{last}</b> : last}
      </p>
    </div>
  );
}
