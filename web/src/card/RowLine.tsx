/** A session that needs the person as one line: icon, time, what it wants, project, and small answer buttons. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { giveAnswers, undoAnswer } from "../ask/giveAnswer";
import { byInput } from "../ask/plainAsk";
import { submissionOf } from "../ask/submission";
import type { Ask } from "../generated/Ask";
import type { Session } from "../generated/Session";
import { cardElement } from "../keys/cursor";
import { PickMark } from "../keys/picks";
import { unfolded } from "../lib/selection";
import { Button, NeedsDaemon } from "../ui/Button";
import { Icon, WireIcon } from "../ui/Icon";
import { Elapsed } from "../ui/Timer";
import { openAsks } from "./headline";
import { askText, type RowText, rowText } from "./rowText";

export function RowLine({ session, inProject }: { session: Session; inProject: boolean }) {
  const text = useRef<HTMLHeadingElement>(null);
  const row = rowText(session);
  const asks = openAsks(session);
  const fits = useFitsLine(text, row.text);
  const blocked = session.waiting?.kind === "blocks";
  return (
    <Line
      id={session.id}
      icon={<WireIcon name={session.waiting?.icon ?? session.agent_state.icon} />}
      since={session.agent_state.since}
      title={[session.title, session.agent_state.label].filter(Boolean).join("\n")}
      row={row}
      text={text}
      where={inProject ? null : session.project.name}
    >
      {asks.length > 0 ? (
        <LineAnswer id={session.id} asks={asks} whole={row.whole && fits} />
      ) : (
        blocked && (
          <span class="row-answer dim" title="Can only be answered in its terminal">
            <Icon name="pane" small />
            terminal
          </span>
        )
      )}
    </Line>
  );
}

type BunchLineProps = { id: string; asks: Ask[]; sessions: number; since: string };

/** Several sessions with asks that are alike. */
export function BunchLine({ id, asks, sessions, since }: BunchLineProps) {
  const text = useRef<HTMLHeadingElement>(null);
  const row = askText(asks[0] as Ask, null);
  const fits = useFitsLine(text, row.text);
  const same = byInput(asks.map((ask) => ({ ask }))).length === 1;
  return (
    <Line
      id={id}
      icon={<Icon name="shield" />}
      since={since}
      title={`${sessions} sessions`}
      row={same ? row : { ...row, aside: "and others like it" }}
      text={text}
      where={`${sessions} sessions`}
    >
      <LineAnswer id={id} asks={asks} whole={same && row.whole && fits} />
    </Line>
  );
}

type LineProps = {
  id: string;
  icon: ComponentChildren;
  since: string;
  title: string;
  row: RowText;
  text: RefObject<HTMLHeadingElement | null>;
  where: string | null;
  children: ComponentChildren;
};

function Line({ id, icon, since, title, row, text, where, children }: LineProps) {
  return (
    <div class="row-line">
      <span class="tile">{icon}</span>
      <PickMark id={id} />
      <span class="since">
        <Elapsed since={since} />
      </span>
      <h3 class={row.code ? "row-text code clip" : "row-text clip"} ref={text} title={title}>
        {row.what && <b>{row.what}</b>} {row.text}
        {row.aside && <span class="dim"> {row.aside}</span>}
      </h3>
      {where && <span class="row-where clip">{where}</span>}
      {children}
    </div>
  );
}

type LineAnswerProps = { id: string; asks: Ask[]; whole: boolean };

/** Allow and Deny beside a request that is wholly visible, else the way to see it. */
function LineAnswer({ id, asks, whole }: LineAnswerProps) {
  const [first] = asks;
  if (!first) return null;
  const sent = submissionOf(first.id).value;
  if (sent.kind === "pending")
    return (
      <span class="row-answer">
        <b class="clip">{sent.what}</b>
        <Button onClick={() => undoAnswer(first.id)}>Undo</Button>
      </span>
    );
  if (sent.kind === "sending" || sent.kind === "ended")
    return <span class="row-answer dim clip">{sent.kind === "ended" ? sent.text : "Sending"}</span>;
  const n = asks.length > 1 ? ` ${asks.length}` : "";
  return (
    <span class="row-answer">
      <NeedsDaemon.Provider value={true}>
        {whole ? (
          <>
            <Button onClick={(event) => giveAnswers(asks, { decision: "allow" }, `Allowed${n}`, event)}>
              Allow{n}
            </Button>
            <Button onClick={(event) => giveAnswers(asks, { decision: "deny" }, `Denied${n}`, event)}>
              Deny{n}
            </Button>
          </>
        ) : (
          <Button onClick={() => review(id)}>Review…</Button>
        )}
      </NeedsDaemon.Provider>
    </span>
  );
}

/** The button disappears below the unfolded card, so the card gets the focus. */
function review(id: string): void {
  cardElement(id)?.focus({ preventScroll: true });
  unfolded.value = id;
}

const sizes = new WeakMap<Element, () => void>();
const observer = new ResizeObserver((entries) => {
  for (const { target } of entries) sizes.get(target)?.();
});

/** Whether the text is not cut. The room for the buttons has a fixed width, so they do not change the result. */
function useFitsLine(text: RefObject<HTMLElement | null>, shown: string): boolean {
  const fits = useSignal(false);
  useLayoutEffect(() => {
    const element = text.current;
    if (!element) return;
    sizes.set(element, () => {
      fits.value = element.scrollWidth <= element.clientWidth;
    });
    observer.observe(element);
    return () => observer.unobserve(element);
  }, [shown]);
  return fits.value;
}
