//! One session as a card. It redraws when its own session changes and never because another one did.
import { useComputed } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { AskView, TerminalRow } from "../ask/AskView";
import type { Session } from "../generated/Session";
import { cursor, tabStops } from "../keys/cursor";
import { sessionHref } from "../lib/route";
import { can } from "../live/able";
import { sessionSignal } from "../live/store";
import { TabStop } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Composer } from "./Composer";
import { Dials } from "./Dials";
import { SeatLabel, StateLine, Where } from "./Head";
import { headline, openAsks, shownAsks } from "./headline";
import { lookOf, type Look } from "./look";
import { Notes } from "./Notes";
import { opens } from "./opens";

export function Card({ id, inProject }: { id: string; inProject: boolean }) {
  const session = sessionSignal(id)?.value;
  const element = useRef<HTMLElement>(null);
  const current = useComputed(() => (cursor.value === id ? "true" : undefined));
  const tab = useComputed(() => (tabStops.value.has(id) ? 0 : -1));
  useFlash(element, session);
  if (!session) return null;
  const look = lookOf(session.agent_state.role);
  return (
    <TabStop.Provider value={tab}>
      <article
        ref={element} class={`card is-${look}${session.seen ? " is-seen" : ""}`} data-card={id} data-state={session.agent_state.state}
        data-group={session.agent_state.group} tabIndex={tab} aria-current={current} aria-label={`${session.project.name}: ${session.agent_state.label}`}
        onFocusIn={() => { cursor.value = id; }} {...opens(id)}
      >
        <Body session={session} look={look} inProject={inProject} />
      </article>
    </TabStop.Provider>
  );
}

function Body({ session, look, inProject }: { session: Session; look: Look; inProject: boolean }) {
  const asks = shownAsks(session);
  const waiting = look === "idle" || look === "asking" || look === "failed";
  // The line that says where to answer names the seat; the title gets its room.
  const elsewhere = look === "blocked" && openAsks(session).length === 0;
  return (
    <>
      <header class="card-head">
        <StateLine session={session} look={look} />
        <Where session={session} withProject={!inProject} />
      </header>
      <div class="card-sub">
        <h3 class="title clip">
          {waiting && !session.seen && <i class="new" title="Not seen yet" />}
          <a href={sessionHref(session.id)} tabIndex={-1}>{session.title ?? <span class="dim">No prompt yet</span>}</a>
        </h3>
        {!elsewhere && <SeatLabel session={session} />}
      </div>
      <Current session={session} hasAsks={asks.length > 0} />
      {asks.map((ask) => <AskView key={ask.id} ask={ask} whole={false} />)}
      {elsewhere && <InTerminal session={session} />}
      <Notes session={session} />
      {session.takes === "prompt" && can("prompt") && <Composer id={session.id} placeholder="Next prompt" />}
      <Dials session={session} />
    </>
  );
}

/** What it is doing or saying right now; the last prompt where nothing more current is known. */
function Current({ session, hasAsks }: { session: Session; hasAsks: boolean }) {
  const { rest } = headline(session);
  const { last_user_message: prompt, current_activity: activity, title } = session;
  const running = session.agent_state.group === "running";
  // The activity is often the label again, and then its end stands here and not in the headline.
  const doing = running ? (rest ?? (activity !== session.agent_state.label ? activity : null)) : null;
  if (doing) return <p class="activity clip" title={doing}>{withinProject(doing, session)}</p>;
  if (!hasAsks && rest && session.agent_state.state === "needs_permission") return <div class="well"><p class="cmd bare">{rest}</p></div>;
  if (!hasAsks && rest) return <p class="said ask-text">{rest}</p>;
  if (prompt && prompt !== title) return <p class="prompt clip" title={prompt}>{prompt}</p>;
  return null;
}

/** A path below the project begins there: the end of it is what tells. */
const withinProject = (text: string, { project: { path } }: Session) => (path ? text.replaceAll(`${path}/`, "") : text);

/** Blocked, and nothing here to answer it with: it says where it can be answered, and goes there if the daemon can. */
function InTerminal({ session }: { session: Session }) {
  const { pane, name } = session.seat;
  const seat = [name, pane].filter(Boolean).join(" ");
  if (pane && can("focus")) return <TerminalRow id={session.id} why={seat} />;
  return <p class="in-terminal"><Icon name="pane" small /><span class="clip">Answer it in its terminal{seat && <>, <b>{seat}</b></>}</span></p>;
}

/** A new need lights its rail once. */
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
