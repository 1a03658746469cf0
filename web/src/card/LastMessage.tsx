import type { Session } from "../generated/Session";
import { lastWords } from "./lastWords";

/** The end of Claude's last message, in two or three lines. Its last sentence is bold if the session asks. */
export function LastMessage({ session }: { session: Session }) {
  const { last_assistant_text: text, waiting } = session;
  if (!text || waiting === null) return null;
  const { lead, last } = lastWords(text);
  const asks = waiting.kind === "asks";
  return (
    <div class="last-said" data-asks={asks ? "" : undefined} title={text}>
      <p>
        <span class="lead">{lead} </span>
        {asks ? <b>{last}</b> : last}
      </p>
    </div>
  );
}
