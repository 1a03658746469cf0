/**
 * One ask with its answer buttons. In the drawer (`full`) the whole input and all ways to answer are shown.
 */
import { useComputed, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { goToTerminal } from "../card/actions";
import type { Ask } from "../generated/Ask";
import { cannotAllow, cannotAnswer } from "../hosts/answerGate";
import { refused, useAskKeys } from "../keys/askKeys";
import { askFocus, isCurrentAsk } from "../keys/currentAsk";
import { now, time } from "../lib/clock";
import { openSession, sessionHref } from "../lib/route";
import { can } from "../live/capabilities";
import { sessionSignal } from "../live/store";
import { Button, NeedsDaemon } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Countdown } from "../ui/Timer";
import { isRepeatedClick } from "../ui/useConfirm";
import { DenyOnlyAsk } from "./Deny";
import { ElicitationAsk } from "./ElicitationAsk";
import { type MissingInput, useFullAsk } from "./fullAsk";
import { undoAnswer } from "./giveAnswer";
import { PermissionAsk } from "./PermissionAsk";
import { PlanAsk } from "./PlanAsk";
import { QuestionAsk } from "./QuestionAsk";
import { resolutionText, submissionOf } from "./submission";
import { ToolInputView } from "./ToolInputView";
import { hasInput, toolInput } from "./toolInput";

export type AskProps = { ask: Ask; full: boolean; missing: MissingInput | null };

export function AskView({ ask: carried, full }: { ask: Ask; full: boolean }) {
  const { ask, missing } = useFullAsk(carried, full);
  const sent = submissionOf(ask.id).value;
  const expired = useExpired(ask.expires_at);
  if (ask.resolution?.by === "policy")
    return <ByPolicy session={ask.session_id} text={resolutionText(ask.resolution)} full={full} />;
  if (ask.resolution) return <Outcome text={resolutionText(ask.resolution)} />;
  if (sent.kind === "ended") return <Outcome text={sent.text} />;
  const session = sessionSignal(ask.session_id)?.value;
  const elsewhere = session ? cannotAnswer(session, ask) : null;
  if (elsewhere !== null) return <OnItsHost ask={ask} why={elsewhere} full={full} />;
  if (!ask.answerable || expired) return <InTerminal ask={ask} expired={expired} full={full} />;
  const denyOnly = session ? cannotAllow(session, ask) : null;
  return <OpenAsk ask={ask} full={full} missing={missing} denyOnly={denyOnly} />;
}

/** `denyOnly`: why the request cannot be allowed here; null if it can. */
type OpenAskProps = AskProps & { denyOnly: string | null };

function OpenAsk({ ask, full, missing, denyOnly }: OpenAskProps) {
  const sent = submissionOf(ask.id).value;
  const current = useComputed(() => (isCurrentAsk(ask, full) ? "" : undefined));
  const element = useFreshMark();
  return (
    <div
      ref={element}
      class="ask"
      data-ask={ask.id}
      data-kind={ask.kind}
      data-current={current}
      data-pending={sent.kind === "pending" ? "" : undefined}
      aria-busy={sent.kind === "sending"}
      onFocusIn={() => {
        askFocus.value = ask.id;
      }}
      onClickCapture={(event) => isRepeatedClick(event) && event.stopPropagation()}
    >
      <div class="ask-body" inert={sent.kind === "pending"}>
        <NeedsDaemon.Provider value={true}>
          <ByKind ask={ask} full={full} missing={missing} denyOnly={denyOnly} />
        </NeedsDaemon.Provider>
      </div>
      <GoesTo id={ask.session_id} />
      {sent.kind === "pending" && <Pending askId={ask.id} what={sent.what} sendAt={sent.sendAt} />}
      {sent.kind === "failed" && (
        <p class="ask-error" role="alert">
          {sent.text}
        </p>
      )}
    </div>
  );
}

/**
 * Answer keys are refused for this long after an ask or its card appeared in its place: the key was meant for
 * what was there before.
 */
const FRESH_MS = 400;

/** Marks the ask for a moment after it appeared, and after `changed` did: its keys then mean something else. */
export function useFreshMark(changed?: number) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const ask = element.current;
    ask?.setAttribute("data-fresh", "");
    const timer = setTimeout(() => ask?.removeAttribute("data-fresh"), FRESH_MS);
    return () => clearTimeout(timer);
  }, [changed]);
  return element;
}

/** The answer was given by a key and is not sent yet. */
export const Pending = ({ askId, what, sendAt }: { askId: string; what: string; sendAt: number }) => (
  <p class="outcome pending">
    <Icon name="check" small />
    <b>{what}</b>
    <span class="dim">
      sent in <Countdown until={sendAt} />
    </span>
    <Button kind="ghost" onClick={() => undoAnswer(askId)}>
      Undo <kbd>z</kbd>
    </Button>
  </p>
);

function ByKind({ denyOnly, ...props }: OpenAskProps) {
  switch (props.ask.kind) {
    case "permission":
      if (denyOnly !== null) return <DenyOnlyAsk ask={props.ask} full={props.full} why={denyOnly} />;
      return <PermissionAsk {...props} />;
    case "question":
      return <QuestionAsk {...props} />;
    case "plan":
      return <PlanAsk {...props} />;
    case "elicitation":
      return <ElicitationAsk ask={props.ask} full={props.full} />;
  }
}

/** True after the ask expired. Uses one timer instead of a redraw per second. */
function useExpired(until: string | null): boolean {
  const expired = useSignal(until !== null && time(until) <= now.peek());
  useEffect(() => {
    const left = until === null ? Infinity : time(until) - Date.now();
    expired.value = left <= 0;
    if (left <= 0 || left > 2 ** 31 - 1) return;
    const timer = setTimeout(() => {
      expired.value = true;
    }, left);
    return () => clearTimeout(timer);
  }, [until]);
  return expired.value;
}

const Outcome = ({ text }: { text: string }) => (
  <p class="outcome">
    <Icon name="check" small />
    {text}
  </p>
);

/** A policy rule answered the ask: names the rule and links to the session's log. */
const ByPolicy = ({ session, text, full }: { session: string; text: string; full: boolean }) => (
  <p class="outcome by-policy" data-by="policy">
    <span class="mark">
      <Icon name="rule" small />
    </span>
    <span class="clip" title={text}>
      {text}
    </span>
    {!full && (
      <a href={sessionHref(session)} aria-label="What the policy answered, in the session's log">
        Log
      </a>
    )}
  </p>
);

/** The answer is sent to the machine that the session belongs to. */
function GoesTo({ id }: { id: string }) {
  const session = sessionSignal(id)?.value;
  return session?.owner ? <p class="goes-to dim">goes to {session.host}</p> : null;
}

/** The session belongs to another machine, which cannot be asked or does not accept an answer from here. */
function OnItsHost({ ask, why, full }: { ask: Ask; why: string; full: boolean }) {
  useAskKeys(ask.id, full, { y: refused(why), d: refused(why), a: refused(why), D: refused(why) });
  return (
    <div class="ask on-its-host" data-ask={ask.id}>
      {hasInput(ask) && <ToolInputView input={toolInput(ask)} full={full} />}
      <p class="dim">{why}</p>
    </div>
  );
}

/** The session still waits for an answer, but this page cannot give it. */
function InTerminal({ ask, expired, full }: { ask: Ask; expired: boolean; full: boolean }) {
  return (
    <div class="ask">
      {full &&
        (ask.kind === "elicitation" ? (
          <ElicitationAsk ask={ask} full={full} />
        ) : (
          <ToolInputView input={toolInput(ask)} full />
        ))}
      <TerminalRow
        id={ask.session_id}
        why={expired ? "the time to answer here is over" : "can only be answered there"}
      >
        {!full && ask.kind !== "permission" && (
          <Button kind="ghost" onClick={() => openSession(ask.session_id)}>
            Show
          </Button>
        )}
      </TerminalRow>
    </div>
  );
}

/**
 * Where the session is answered: a button that goes there, or only words if its terminal cannot be reached from here.
 * Also used for a session that is blocked without an ask, because no hook reported one.
 */
export function TerminalRow({ id, why, children }: TerminalRowProps) {
  const seat = sessionSignal(id)?.value?.seat;
  if (seat && !(seat.pane && can("focus")))
    return <TypedThere place={[seat.name, seat.pane].filter(Boolean).join(" ")}>{children}</TypedThere>;
  return (
    <div class="answer">
      <Button kind="primary" onClick={() => void goToTerminal(id)}>
        <Icon name="jump" small />
        Answer in terminal
      </Button>
      {children}
      {why && (
        <span class="dim clip" title={why}>
          {why}
        </span>
      )}
    </div>
  );
}

type TerminalRowProps = { id: string; why: string; children?: ComponentChildren };

const TypedThere = ({ place, children }: { place: string; children: ComponentChildren }) => (
  <div class="in-terminal">
    <Icon name="pane" small />
    <span class="clip">
      <span class="long">Answer it in its </span>terminal
      {place && (
        <>
          , <b>{place}</b>
        </>
      )}
    </span>
    {children}
  </div>
);
