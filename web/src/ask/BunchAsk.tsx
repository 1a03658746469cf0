/** Asks that are alike, of several sessions or of one: one press answers all of them. */
import { useComputed, useSignal } from "@preact/signals";
import { split } from "../board/bunches";
import type { Ask } from "../generated/Ask";
import type { Session } from "../generated/Session";
import { key, refused, useAskKeys } from "../keys/askKeys";
import { isCurrentAsk } from "../keys/currentAsk";
import { groupBy } from "../lib/groupBy";
import { sessionHref } from "../lib/route";
import { Button, NeedsDaemon } from "../ui/Button";
import { Elapsed } from "../ui/Timer";
import { isRepeatedClick } from "../ui/useConfirm";
import { Pending, useFreshMark } from "./AskView";
import { giveAnswers } from "./giveAnswer";
import { byInput, sharedRule } from "./plainAsk";
import { submissionOf } from "./submission";
import { commonText } from "./suggestion";
import { ToolInputView } from "./ToolInputView";
import { toolInput } from "./toolInput";

/** An ask that belongs to the bunch, and its session. */
export type Member = { session: Session; ask: Ask };

/** The first member is of the card that shows them; its ask has the keys. */
export function BunchAsk({ members }: { members: [Member, ...Member[]] }) {
  const leader = members[0].ask;
  const asks = members.map(({ ask }) => ask);
  const inputs = byInput(members);
  const all = useSignal(false);
  const shown = all.value ? inputs : inputs.slice(0, INPUTS_FIRST);
  const more = inputs.length - shown.length;
  const sent = submissionOf(leader.id).value;
  const current = useComputed(() => (isCurrentAsk(leader, false) ? "" : undefined));
  const element = useFreshMark(asks.length + shown.length);
  const showAll = () => {
    all.value = true;
  };
  // What is not on the card yet is not allowed: the first press shows it.
  const allow = (event: UIEvent) => (more > 0 ? showAll() : allowAll(asks, event));
  const deny = (event: UIEvent) => denyAll(asks, event);
  const oneByOne = () => {
    split.value = [...split.value, ...asks.map((ask) => ask.id)].slice(-SPLIT_MAX);
  };
  useAskKeys(leader.id, false, {
    y: key(more > 0 ? `show all ${inputs.length}` : `allow all ${asks.length}`, allow),
    d: key(`deny all ${asks.length}`, deny),
    u: key("one by one", oneByOne),
    a: TOGETHER,
    D: TOGETHER,
  });
  return (
    <div
      ref={element}
      class="ask"
      data-ask={leader.id}
      data-kind="permission"
      data-current={current}
      data-pending={sent.kind === "pending" ? "" : undefined}
      onClickCapture={(event) => isRepeatedClick(event) && event.stopPropagation()}
    >
      <div class="ask-body" inert={sent.kind === "pending"}>
        <NeedsDaemon.Provider value={true}>
          {inputs.length > 1 && <Common asks={asks} inputs={inputs.length} />}
          {shown.map((same) => (
            <Same key={same[0]?.ask.id} members={same} beside={inputs.length > 1} />
          ))}
          {more > 0 && (
            <Button kind="ghost" class="differs-more" onClick={showAll}>
              +{more} more
            </Button>
          )}
          <div class="answer">
            <Button kind="primary" onClick={allow} keys="y">
              Allow all {asks.length}
              {more > 0 && "…"} <kbd>y</kbd>
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

/** Most different inputs on the card before the person asks for all of them. */
const INPUTS_FIRST = 3;

const allowAll = (asks: Ask[], event: UIEvent) =>
  giveAnswers(asks, { decision: "allow" }, `Allowed ${asks.length}`, event);
const denyAll = (asks: Ask[], event: UIEvent) =>
  giveAnswers(asks, { decision: "deny" }, `Denied ${asks.length}`, event);

/** The asks are not the same: says what they have in common. */
function Common({ asks, inputs }: { asks: Ask[]; inputs: number }) {
  const suggestion = sharedRule(asks);
  const { text, code } = suggestion ? commonText(suggestion) : { text: "", code: null };
  return (
    <p class="in-common">
      <b>
        {inputs} different {asks[0]?.tool_name === "Bash" ? "commands" : "inputs"}
      </b>{" "}
      that one rule would cover: {text} {code && <code>{code}</code>}
    </p>
  );
}

/** Most asks that are remembered as shown one by one; the page may stay open for days. */
const SPLIT_MAX = 500;

const TOGETHER = refused("these are answered together, u shows them one by one");

/** The sessions that ask for the same input: below it, or beside it if there are other inputs. */
function Same({ members, beside }: { members: Member[]; beside: boolean }) {
  const [first] = members;
  if (!first) return null;
  const input = toolInput(first.ask);
  const bySession = [...groupBy(members, ({ session }) => session.id).values()];
  return (
    <div class={beside ? "same beside" : "same"}>
      <ToolInputView input={input.kind === "command" ? { ...input, description: null } : input} />
      <ul class="asking">
        {bySession.map((own) => own[0] && <Asking key={own[0].session.id} {...own[0]} times={own.length} />)}
      </ul>
    </div>
  );
}

/** A session that asks, and how often if it is more than once. */
function Asking({ session, times }: Member & { times: number }) {
  return (
    <li>
      <a class="chip" href={sessionHref(session.id)} tabIndex={-1} title={session.title ?? undefined}>
        <b class="clip">{nameOf(session)}</b>
        {times > 1 && <span>{times} times</span>}
        <Elapsed since={session.agent_state.since} />
      </a>
    </li>
  );
}

/** The terminal's name if it has one, else the worktree or project. */
const nameOf = ({ seat, project }: Session): string =>
  seat.name ?? project.worktree ?? [project.name, seat.pane].filter(Boolean).join(" ");
