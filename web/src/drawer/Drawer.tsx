/** The session drawer: everything about one session, in a dialog over the board. */
import { useEffect } from "preact/hooks";
import { mutedProjects, mutedSessions } from "../alerts/settings";
import { AskView } from "../ask/AskView";
import { KeptTextNote } from "../ask/KeptTextNote";
import { AssignmentLine } from "../assignment/AssignmentLine";
import { copy, goToTerminal, interrupt, markSeen, mute, muteProject } from "../card/actions";
import { appearanceOf } from "../card/appearance";
import { StateLine } from "../card/CardHeader";
import { Composer } from "../card/Composer";
import { agentType, visibleAsks } from "../card/headline";
import { ParkMenu } from "../card/ParkMenu";
import { EffortChip } from "../efforts/EffortChip";
import type { Session } from "../generated/Session";
import { ConnectionBanner } from "../header/ConnectionBanner";
import { KeyFooter } from "../keys/KeyFooter";
import { closeSession } from "../lib/route";
import { can } from "../live/capabilities";
import { Modal } from "../overlay/Modal";
import { Button, NeedsDaemon } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { useConfirm } from "../ui/useConfirm";
import { Conversation } from "./Conversation";
import { useDrawerData, useSession } from "./drawerData";
import { LastSaid } from "./LastSaid";
import { PromptUnavailable } from "./PromptUnavailable";
import { SessionFacts } from "./SessionFacts";
import { SidePanel } from "./SidePanel";
import { Timeline } from "./Timeline";
import { WhyHere } from "./WhyHere";

export function Drawer({ id }: { id: string }) {
  const session = useSession(id);
  return (
    <Modal label={session?.title ?? "Session"} class="drawer-dialog" onClose={closeSession}>
      <ConnectionBanner />
      {session ? (
        <Content session={session} />
      ) : (
        <p class="nothing">
          {session === null ? "Loading the session" : "No session found for this link"}
          <Button onClick={closeSession}>Close</Button>
        </p>
      )}
    </Modal>
  );
}

function Content({ session }: { session: Session }) {
  const data = useDrawerData(session.id);
  const appearance = appearanceOf(session);
  const terminalAsks = session.asks.filter((ask) => ask.resolution === null && !ask.answerable);
  const asks = [...visibleAsks(session), ...terminalAsks];
  useEffect(() => markSeen(session.id), [session.id, session.agent_state.since]);
  return (
    <div class={`drawer is-${appearance}`} data-drawer={session.id}>
      <Head session={session} />
      {asks.length > 0 && (
        <section class="drawer-ask" aria-label="Open requests">
          {asks.map((ask) => (
            <div key={ask.id}>
              {ask.agent_id && (
                <p class="lead">
                  <b>{agentType(session, ask.agent_id)}</b> asks
                </p>
              )}
              <AskView ask={ask} full />
            </div>
          ))}
        </section>
      )}
      <div class="drawer-main" autofocus tabIndex={0} role="region" aria-label="Details">
        {data.error.value && (
          <p class="ask-error" role="alert">
            {data.error.value}
          </p>
        )}
        <KeptTextNote sessionId={session.id} />
        <LastSaid session={session} events={data.events.value} />
        <Conversation session={session} events={data.events.value} loadOlder={data.loadOlder.value} />
        <Timeline session={session} events={data.events.value} loadOlder={data.loadOlder.value} />
        <WhyHere session={session} explanation={data.explanation.value} />
      </div>
      <SidePanel session={session} explanation={data.explanation.value} events={data.events.value} />
      <div class="drawer-foot" role="group" aria-label="Next prompt">
        {session.takes === "prompt" && can("prompt") ? (
          <Composer id={session.id} placeholder="Next prompt" />
        ) : (
          <PromptUnavailable session={session} />
        )}
      </div>
      <KeyFooter />
    </div>
  );
}

function Head({ session }: { session: Session }) {
  const muted = mutedSessions.value.includes(session.id);
  const { name } = session.project;
  const projectMuted = mutedProjects.value.includes(name);
  return (
    <header class="drawer-head">
      <div class="line">
        <StateLine session={session} appearance={appearanceOf(session)} />
        <span class="tools">
          <NeedsDaemon.Provider value={true}>
            {session.seat.pane && can("focus") && (
              <Button onClick={() => void goToTerminal(session.id)}>
                <Icon name="jump" small />
                Go to terminal <kbd>t</kbd>
              </Button>
            )}
            {session.takes === "interrupt" && can("interrupt") && (
              <ConfirmButton
                first="Interrupt…"
                second="Confirm interrupt"
                act={() => void interrupt(session.id)}
              />
            )}
            {session.seat.pid !== null && session.agent_state.group !== "done" && can("interrupt") && (
              <ConfirmButton
                first="Stop…"
                second="Confirm: end the session"
                act={() => void interrupt(session.id, true)}
              />
            )}
            <ParkMenu session={session} />
            <Button
              kind="ghost"
              square
              pressed={muted}
              label={muted ? "Unmute this session" : "Mute this session"}
              onClick={() => mute(session.id)}
            >
              <Icon name={muted ? "mute" : "sound"} />
            </Button>
            <Button
              kind="ghost"
              pressed={projectMuted}
              title={`${projectMuted ? "Unmute" : "Mute"} every session of ${name}`}
              onClick={() => muteProject(name)}
            >
              <Icon name={projectMuted ? "mute" : "sound"} small />
              {projectMuted ? "Unmute project" : "Mute project"}
            </Button>
          </NeedsDaemon.Provider>
          <Button kind="ghost" square label="Copy link" onClick={() => void copy(location.href)}>
            <Icon name="link" />
          </Button>
          <Button kind="ghost" square label="Close" onClick={closeSession}>
            <Icon name="x" />
          </Button>
        </span>
      </div>
      <h2>{session.title ?? "No prompt yet"}</h2>
      <AssignmentLine session={session} />
      {session.effort && <EffortChip effort={session.effort} />}
      <SessionFacts session={session} />
    </header>
  );
}

function ConfirmButton({ first, second, act }: { first: string; second: string; act: () => void }) {
  const { armed, waiting, press } = useConfirm(act);
  return (
    <Button kind={armed ? "danger" : "plain"} onClick={press} waiting={waiting}>
      <Icon name="stop" small />
      {armed ? second : first}
    </Button>
  );
}
