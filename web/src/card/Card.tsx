/** One session as a card. It is redrawn only when its own session changes. */
import { useEffect, useRef } from "preact/hooks";
import { TerminalRow } from "../ask/AskView";
import { KeptTextNote } from "../ask/KeptTextNote";
import { AssignmentLine } from "../assignment/AssignmentLine";
import type { Session } from "../generated/Session";
import { HostChip, Unreachable } from "../hosts/OwnerMarks";
import { PickMark } from "../keys/picks";
import { sessionHref } from "../lib/route";
import { can } from "../live/capabilities";
import { sessionSignal } from "../live/store";
import { type Appearance, appearanceOf } from "./appearance";
import { Badges } from "./Badges";
import { CardAsks } from "./CardAsks";
import { CardFrame } from "./CardFrame";
import { SeatLabel, StateLine, Where } from "./CardHeader";
import { Composer } from "./Composer";
import { headline, openAsks, visibleAsks } from "./headline";
import { LastMessage } from "./LastMessage";
import { Metrics } from "./Metrics";
import { ParkMenu } from "./ParkMenu";
import { RowLine } from "./RowLine";

/** `row`: one line, which the card unfolds over when a key selects it. */
export type CardProps = { id: string; inProject: boolean; row: boolean };

export function Card({ id, inProject, row }: CardProps) {
  const session = sessionSignal(id)?.value;
  const element = useRef<HTMLElement>(null);
  useFlash(element, session);
  if (!session) return null;
  const appearance = appearanceOf(session);
  return (
    <CardFrame
      session={session}
      class={`card is-${appearance}${session.seen ? " is-seen" : ""}`}
      element={element}
      line={row && <RowLine session={session} inProject={inProject} />}
    >
      <Body session={session} appearance={appearance} inProject={inProject} />
    </CardFrame>
  );
}

function Body({
  session,
  appearance,
  inProject,
}: {
  session: Session;
  appearance: Appearance;
  inProject: boolean;
}) {
  const asks = visibleAsks(session);
  const unread = session.waiting !== null && appearance !== "blocked" && !session.seen;
  // If the card says that it must be answered in the terminal, that line names the terminal and the title
  // line does not.
  const elsewhere = appearance === "blocked" && openAsks(session).length === 0;
  return (
    <>
      <header class="card-head">
        <PickMark id={session.id} />
        <StateLine session={session} appearance={appearance} />
        <Where session={session} withProject={!inProject} />
        <HostChip session={session} />
      </header>
      <Unreachable session={session} />
      <div class="card-sub">
        <h3 class="title clip">
          {unread && <i class="new" title="Not seen yet" />}
          <a href={sessionHref(session.id)} tabIndex={-1}>
            {session.title ?? <span class="dim">No prompt yet</span>}
          </a>
        </h3>
        {!elsewhere && <SeatLabel session={session} />}
        <ParkMenu session={session} small />
      </div>
      <Current session={session} hasAsks={asks.length > 0} />
      <LastMessage session={session} />
      <CardAsks id={session.id} asks={asks} />
      <KeptTextNote sessionId={session.id} />
      {elsewhere && <TerminalRow id={session.id} why={seatText(session)} />}
      <Badges session={session} />
      {session.takes === "prompt" && can("prompt") && <Composer id={session.id} placeholder="Next prompt" />}
      <AssignmentLine session={session} />
      <Metrics session={session} />
    </>
  );
}

/** What the session does or asks now, or its last prompt if nothing newer is known. */
function Current({ session, hasAsks }: { session: Session; hasAsks: boolean }) {
  const { rest } = headline(session);
  const { last_user_message: prompt, current_activity: activity, title } = session;
  const running = session.agent_state.group === "running";
  // The activity often repeats the label. Then the end of the label is shown here and not in the headline.
  const doing = running ? (rest ?? (activity !== session.agent_state.label ? activity : null)) : null;
  if (doing)
    return (
      <p class="activity clip" title={doing}>
        {withinProject(doing, session)}
      </p>
    );
  if (!hasAsks && rest && session.agent_state.state === "needs_permission")
    return (
      <div class="well">
        <p class="cmd bare">{rest}</p>
      </div>
    );
  if (!hasAsks && rest) return <p class="said ask-text">{rest}</p>;
  if (session.waiting && session.last_assistant_text) return null;
  if (prompt && prompt !== title && prompt !== session.assignment?.title)
    return (
      <p class="prompt clip" title={prompt}>
        {prompt}
      </p>
    );
  return null;
}

/** Shows paths relative to the project, because the end of a path tells more. */
const withinProject = (text: string, { project: { path } }: Session) =>
  path ? text.replaceAll(`${path}/`, "") : text;

const seatText = ({ seat }: Session) => [seat.name, seat.pane].filter(Boolean).join(" ");

/** Lights the card's edge once when it starts to need the person. */
function useFlash(element: { current: HTMLElement | null }, session: Session | undefined): void {
  const state = session?.agent_state.state;
  const last = useRef(state);
  useEffect(() => {
    const changed = last.current !== state;
    last.current = state;
    if (!changed || session?.status.kind !== "attention_needed") return;
    element.current?.classList.add("flash");
    const timer = setTimeout(() => element.current?.classList.remove("flash"), 700);
    return () => clearTimeout(timer);
  }, [state]);
}
