/** The facts about a session below the title of the drawer: branch, pane, model, times. */
import type { ComponentChildren } from "preact";
import { isInTurn } from "../card/headline";
import type { Session } from "../generated/Session";
import { modelName, roundedDuration } from "../lib/format";
import { Icon } from "../ui/Icon";
import type { IconName } from "../ui/icons";
import { Elapsed, Remaining } from "../ui/Timer";

export function SessionFacts({ session: s }: { session: Session }) {
  return (
    <div class="facts">
      <span>
        <b>{s.project.name}</b>
      </span>
      {s.git_branch && <Fact icon="git">{s.git_branch}</Fact>}
      {s.project.worktree && <Fact icon="worktree">{s.project.worktree}</Fact>}
      {s.seat.pane && (
        <Fact icon="pane">{[s.seat.name ?? s.seat.host, s.seat.pane].filter(Boolean).join(" ")}</Fact>
      )}
      {s.model && <Fact icon="model">{modelName(s.model)}</Fact>}
      {s.agent_type && (
        <Fact icon="model" title="The type that claude --agent was started with">
          as {s.agent_type}
        </Fact>
      )}
      {s.permission_mode && s.permission_mode !== "default" && <Fact icon="rule">{s.permission_mode}</Fact>}
      {s.turn_count > 0 && <TurnFact session={s} />}
      {s.duration_seconds >= 1 && (
        <Fact
          icon="clock"
          title={`From its start on ${dayAndTime(s.started_at)} to its ${s.ended_at ? "end" : "last activity"}`}
        >
          {roundedDuration(s.duration_seconds * 1000)} in all
        </Fact>
      )}
      {s.cache?.status === "warm" && s.cache.expires_at && (
        <Fact icon="warm">
          cache <Remaining until={s.cache.expires_at} />
        </Fact>
      )}
      <span class="dim" title={s.id}>
        {s.id.slice(0, 8)}
      </span>
    </div>
  );
}

type FactProps = { icon: IconName; title?: string; children: ComponentChildren };

const Fact = ({ icon, title, children }: FactProps) => (
  <span title={title}>
    <Icon name={icon} small />
    {children}
  </span>
);

const TurnFact = ({ session: s }: { session: Session }) => (
  <Fact icon="timer">
    turn {s.turn_count}
    {s.current_turn_started_at && isInTurn(s) && (
      <>
        , <Elapsed since={s.current_turn_started_at} />
      </>
    )}
  </Fact>
);

const dayAndTime = (iso: string) =>
  new Date(iso).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
