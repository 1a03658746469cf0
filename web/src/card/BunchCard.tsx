/**
 * One card for several sessions whose asks are alike. One press answers all of them, and "One by one" shows each
 * as a card of its own.
 */
import { useComputed } from "@preact/signals";
import { Pending, useFreshMark } from "../ask/AskView";
import { giveAnswers } from "../ask/giveAnswer";
import { likenesses, plainAskOf } from "../ask/plainAsk";
import { submissionOf } from "../ask/submission";
import { ToolInputView } from "../ask/ToolInputView";
import { toolInput } from "../ask/toolInput";
import { split } from "../board/bunches";
import { layout } from "../board/currentLayout";
import type { Ask } from "../generated/Ask";
import type { Session } from "../generated/Session";
import { type AskKeys, key, refused, useAskKeys } from "../keys/askKeys";
import { isCurrentAsk } from "../keys/currentAsk";
import { cursor, tabStops } from "../keys/cursor";
import { PickMark, picks } from "../keys/picks";
import { groupBy } from "../lib/groupBy";
import { sessionHref } from "../lib/route";
import { sessionSignal } from "../live/store";
import { Button, NeedsDaemon, TabStop } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Elapsed } from "../ui/Timer";
import { Card } from "./Card";
import { openOnClick } from "./openOnClick";

type Member = { session: Session; ask: Ask };

export function BunchCard({ id, inProject }: { id: string; inProject: boolean }) {
  const members = (layout.value.bunches[id] ?? []).flatMap((one): Member[] => {
    const session = sessionSignal(one)?.value;
    const ask = session ? plainAskOf(session) : null;
    return session && ask ? [{ session, ask }] : [];
  });
  const [leader] = members;
  // The others may have been answered a moment ago, before the next layout.
  if (!leader || members.length < 2 || leader.session.id !== id)
    return <Card id={id} inProject={inProject} />;
  return <Bunch leader={leader} members={members} />;
}

function Bunch({ leader, members }: { leader: Member; members: Member[] }) {
  const { id } = leader.session;
  const current = useComputed(() => (cursor.value === id ? "true" : undefined));
  const tab = useComputed(() => (tabStops.value.has(id) ? 0 : -1));
  const picked = useComputed(() => (picks.value.includes(id) ? "" : undefined));
  const tool = leader.ask.tool_name;
  const since = members.map(({ session }) => session.agent_state.since).sort()[0] as string;
  return (
    <TabStop.Provider value={tab}>
      <article
        class="card is-blocked bunch"
        data-card={id}
        data-state={leader.session.agent_state.state}
        data-group="needs_you"
        data-picked={picked}
        tabIndex={tab}
        aria-current={current}
        aria-label={`${members.length} sessions: ${leader.session.agent_state.label}`}
        onFocusIn={() => {
          cursor.value = id;
        }}
        {...openOnClick(id)}
      >
        <header class="card-head">
          <PickMark id={id} />
          <span class="state">
            <span class="tile">
              <Icon name="shield" />
            </span>
            Permission
            <span class="what">
              {tool} <span>in {members.length} sessions</span>
            </span>
          </span>
          <span class="since">
            <Elapsed since={since} />
          </span>
        </header>
        <BunchAsk leader={leader.ask} members={members} />
      </article>
    </TabStop.Provider>
  );
}

function BunchAsk({ leader, members }: { leader: Ask; members: Member[] }) {
  const asks = members.map(({ ask }) => ask);
  const sent = submissionOf(leader.id).value;
  const current = useComputed(() => (isCurrentAsk(leader, false) ? "" : undefined));
  const element = useFreshMark(asks.length);
  const allow = (event: UIEvent) => giveAnswers(asks, { decision: "allow" }, `Allowed ${asks.length}`, event);
  const deny = (event: UIEvent) => giveAnswers(asks, { decision: "deny" }, `Denied ${asks.length}`, event);
  const oneByOne = () => {
    split.value = [...split.value, ...asks.map((ask) => ask.id)].slice(-SPLIT_MAX);
  };
  useAskKeys(leader.id, false, bunchKeys(asks.length, allow, deny, oneByOne));
  return (
    <div
      ref={element}
      class="ask"
      data-ask={leader.id}
      data-kind="permission"
      data-current={current}
      data-pending={sent.kind === "pending" ? "" : undefined}
    >
      <div class="ask-body" inert={sent.kind === "pending"}>
        <NeedsDaemon.Provider value={true}>
          {[...groupBy(members, ({ ask }) => likenesses(ask)[0] ?? ask.id)].map(([input, same]) => (
            <Same key={input} members={same} />
          ))}
          <div class="answer">
            <Button kind="primary" onClick={allow} keys="y">
              Allow all {asks.length} <kbd>y</kbd>
            </Button>
            <Button onClick={deny} keys="d">
              Deny all {asks.length} <kbd>d</kbd>
            </Button>
            <Button kind="ghost" onClick={oneByOne} keys="u">
              One by one <kbd>u</kbd>
            </Button>
          </div>
        </NeedsDaemon.Provider>
      </div>
      {sent.kind === "pending" && <Pending askId={leader.id} what={sent.what} sendAt={sent.sendAt} />}
    </div>
  );
}

/** Most asks that are remembered as shown one by one; the page may stay open for days. */
const SPLIT_MAX = 500;

const TOGETHER = refused("these are answered together: u shows them one by one");

const bunchKeys = (
  n: number,
  allow: (event: UIEvent) => void,
  deny: (event: UIEvent) => void,
  oneByOne: () => void,
): AskKeys => ({
  y: key(`allow all ${n}`, allow),
  d: key(`deny all ${n}`, deny),
  u: key("one by one", oneByOne),
  a: TOGETHER,
  D: TOGETHER,
});

/** The sessions that ask for the same input. */
function Same({ members }: { members: Member[] }) {
  const [first] = members;
  if (!first) return null;
  const input = toolInput(first.ask);
  return (
    <>
      <ToolInputView input={input.kind === "command" ? { ...input, description: null } : input} />
      <ul class="asking">
        {members.map(({ session }) => (
          <li key={session.id}>
            <a class="chip" href={sessionHref(session.id)} tabIndex={-1} title={session.title ?? undefined}>
              <b class="clip">{nameOf(session)}</b>
              <Elapsed since={session.agent_state.since} />
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The terminal's name if it has one, else the worktree or project. */
const nameOf = ({ seat, project }: Session): string =>
  seat.name ?? project.worktree ?? [project.name, seat.pane].filter(Boolean).join(" ");
