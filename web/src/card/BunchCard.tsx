/** One card for several sessions whose asks are alike. "One by one" shows each as a card of its own. */
import { BunchAsk, type Member } from "../ask/BunchAsk";
import { wholeBunch } from "../board/bunches";
import { layout } from "../board/currentLayout";
import { PickMark } from "../keys/picks";
import { Icon } from "../ui/Icon";
import { Elapsed } from "../ui/Timer";
import { Card, type CardProps } from "./Card";
import { isBunchOf, openMembers } from "./CardAsks";
import { CardFrame } from "./CardFrame";
import { BunchLine } from "./RowLine";

export function BunchCard({ id, inProject, row }: CardProps) {
  const members = openMembers(wholeBunch(layout.value.bunches, id));
  if (!isBunchOf(id, members)) return <Card id={id} inProject={inProject} row={row} />;
  return <WholeBunch members={members} row={row} />;
}

function WholeBunch({ members, row }: { members: [Member, ...Member[]]; row: boolean }) {
  const [{ session, ask }] = members;
  const sessions = new Set(members.map((member) => member.session.id)).size;
  const since = members.map((member) => member.session.agent_state.since).sort()[0] as string;
  const asks = members.map((member) => member.ask);
  return (
    <CardFrame
      session={session}
      class="card is-blocked bunch"
      label={`${sessions} sessions: ${session.agent_state.label}`}
      line={row && <BunchLine id={session.id} asks={asks} sessions={sessions} since={since} />}
    >
      <header class="card-head">
        <PickMark id={session.id} />
        <span class="state">
          <span class="tile">
            <Icon name="shield" />
          </span>
          Permission
          <span class="what">
            {ask.tool_name} <span>in {sessions} sessions</span>
          </span>
        </span>
        <span class="since">
          <Elapsed since={since} />
        </span>
      </header>
      <BunchAsk members={members} />
    </CardFrame>
  );
}
