//! One ask, answerable where it stands. In the drawer (`whole`) everything is shown and every way to answer is offered.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { Ask } from "../generated/Ask";
import { now, time } from "../lib/clock";
import { openSession, sessionHref } from "../lib/route";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { isRepeatedClick } from "../ui/twice";
import { goToTerminal } from "../card/actions";
import { endedText, sentOf } from "./answers";
import { ElicitationAsk } from "./ElicitationAsk";
import { Input } from "./Input";
import { toolInput } from "./input";
import { PermissionAsk } from "./PermissionAsk";
import { PlanAsk } from "./PlanAsk";
import { QuestionAsk } from "./QuestionAsk";
import { useWhole, type Missing } from "./whole";

export type AskProps = { ask: Ask; whole: boolean; missing: Missing | null };

export function AskView({ ask: carried, whole }: { ask: Ask; whole: boolean }) {
  const { ask, missing } = useWhole(carried, whole);
  const sent = sentOf(ask.id).value;
  const expired = useExpired(ask.expires_at);
  if (ask.resolution?.by === "policy") return <ByPolicy session={ask.session_id} text={endedText(ask.resolution)} whole={whole} />;
  if (ask.resolution) return <Outcome text={endedText(ask.resolution)} />;
  if (sent.kind === "ended") return <Outcome text={sent.text} />;
  if (!ask.answerable || expired) return <InTerminal ask={ask} expired={expired} whole={whole} />;
  return (
    <div class="ask" data-ask={ask.id} data-kind={ask.kind} aria-busy={sent.kind === "sending"} onClickCapture={(event) => isRepeatedClick(event) && event.stopPropagation()}>
      <ByKind ask={ask} whole={whole} missing={missing} />
      {sent.kind === "failed" && <p class="ask-error" role="alert">{sent.text}</p>}
    </div>
  );
}

function ByKind(props: AskProps) {
  switch (props.ask.kind) {
    case "permission":
      return <PermissionAsk {...props} />;
    case "question":
      return <QuestionAsk {...props} />;
    case "plan":
      return <PlanAsk {...props} />;
    case "elicitation":
      return <ElicitationAsk ask={props.ask} />;
  }
}

/** True once the time to answer here is over; a single timer instead of a redraw per second. */
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
  <p class="outcome"><Icon name="check" small />{text}</p>
);

/** Nobody looked at it: it says so with a mark of its own, names the rule and leads to the log. */
const ByPolicy = ({ session, text, whole }: { session: string; text: string; whole: boolean }) => (
  <p class="outcome by-policy" data-by="policy">
    <span class="mark"><Icon name="rule" small /></span>
    <span class="clip" title={text}>{text}</span>
    {!whole && <a href={sessionHref(session)} aria-label="What the policy answered, in the session's log">Log</a>}
  </p>
);

/** It still waits, so it stays amber; only this page cannot answer it. */
function InTerminal({ ask, expired, whole }: { ask: Ask; expired: boolean; whole: boolean }) {
  return (
    <div class="ask">
      {whole && (ask.kind === "elicitation" ? <ElicitationAsk ask={ask} /> : <Input input={toolInput(ask)} whole />)}
      <TerminalRow id={ask.session_id} why={expired ? "the time to answer here is over" : "can only be answered there"}>
        {!whole && ask.kind !== "permission" && <Button kind="ghost" onClick={() => openSession(ask.session_id)}>Show</Button>}
      </TerminalRow>
    </div>
  );
}

/** Also for a session that is blocked without an ask: one that no hook told us about. */
export function TerminalRow({ id, why, children }: { id: string; why: string; children?: ComponentChildren }) {
  return (
    <div class="answer">
      <Button kind="primary" onClick={() => void goToTerminal(id)}><Icon name="jump" small />Answer in terminal</Button>
      {children}
      {why && <span class="dim clip" title={why}>{why}</span>}
    </div>
  );
}
