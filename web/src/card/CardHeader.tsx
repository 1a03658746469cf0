/** The header of a card: state with its time, project and branch, title, terminal. */

import { useContext } from "preact/hooks";
import { mutedProjects, mutedSessions } from "../alerts/settings";
import type { Session } from "../generated/Session";
import { can } from "../live/capabilities";
import { TabStop } from "../ui/Button";
import { Icon, WireIcon } from "../ui/Icon";
import { Elapsed } from "../ui/Timer";
import { goToTerminal } from "./actions";
import type { Appearance } from "./appearance";
import { headline } from "./headline";

export function StateLine({ session, appearance }: { session: Session; appearance: Appearance }) {
  const { state, what, inAgent } = headline(session);
  const { label, since } = session.agent_state;
  const icon = session.waiting?.icon ?? session.agent_state.icon;
  return (
    <>
      <span class="state" title={label}>
        {appearance === "running" ? (
          <WireIcon name={icon} />
        ) : (
          <span class="tile">
            <WireIcon name={icon} />
          </span>
        )}
        <span class="clip">{state}</span>
        {what && (
          <span class="what" title={what}>
            {what}
            {inAgent && <span> in {inAgent}</span>}
          </span>
        )}
      </span>
      <span class="since">
        <Elapsed since={since} />
        {session.quiet_since && (
          <span class="quiet" title="No sign of life: no hook, no registry change, no transcript">
            <Icon name="quiet" small />
            quiet <Elapsed since={session.quiet_since} />
          </span>
        )}
        {session.stale && (
          <span class="quiet" title="No activity for hours">
            <Icon name="quiet" small />
            stale
          </span>
        )}
        <MutedMark session={session} />
      </span>
    </>
  );
}

function MutedMark({ session: { id, project } }: { session: Session }) {
  const what = mutedSessions.value.includes(id)
    ? "Muted"
    : mutedProjects.value.includes(project.name)
      ? "Its project is muted"
      : null;
  return (
    what && (
      <span class="quiet" title={`${what}: no notifications`}>
        <Icon name="mute" small />
        <span class="sr">{what}</span>
      </span>
    )
  );
}

export function Where({ session, withProject }: { session: Session; withProject: boolean }) {
  const { project, git_branch } = session;
  return (
    <span class="where">
      {withProject && (
        <b class="clip" title={project.path ?? undefined}>
          {project.name}
        </b>
      )}
      {git_branch && (
        <span class="branch" title={git_branch}>
          <Icon name="git" small />
          <span class="clip">{git_branch}</span>
        </span>
      )}
    </span>
  );
}

/** Another machine says what may be done to its terminals from here. */
const mayFocus = ({ owner }: Session) => !owner || owner.accepts.includes("focus");

export function SeatLabel({ session }: { session: Session }) {
  const tab = useContext(TabStop);
  const { seat, project } = session;
  const pane = [seat.name, seat.pane].filter(Boolean).join(" ");
  return (
    <span class="seat">
      {project.worktree && (
        <span class="worktree" title={`Worktree ${project.worktree}`}>
          <Icon name="worktree" small />
          <span class="clip">{project.worktree}</span>
        </span>
      )}
      {seat.pane && can("focus") && mayFocus(session) ? (
        <button
          type="button"
          tabIndex={tab}
          title="Go to this pane"
          onClick={() => void goToTerminal(session.id)}
        >
          {pane}
        </button>
      ) : (
        pane && <span title={seat.host ? `on ${seat.host}` : undefined}>{pane}</span>
      )}
    </span>
  );
}
