/** The line at the bottom of the board and of the drawer: the keys that are valid now, and the last refusal. */
import { type PendingAnswer, pendingAnswers } from "../ask/giveAnswer";
import { sessionsIn, wholeBunch } from "../board/bunches";
import { layout } from "../board/currentLayout";
import { headline } from "../card/headline";
import type { Ask } from "../generated/Ask";
import type { Session } from "../generated/Session";
import { openId, type View, view } from "../lib/route";
import { revision, sessionSignal } from "../live/store";
import { isOffline } from "../live/stream";
import { overlay } from "../overlay/overlay";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Countdown } from "../ui/Timer";
import { pressUndo } from "./answerKeys";
import { targetId } from "./currentAsk";
import { focusedField } from "./fieldKeys";
import { picks } from "./picks";
import { refusal } from "./refusal";
import { isWayOut, type ValidKey, validKeys } from "./validKeys";

export function KeyFooter() {
  const id = targetId();
  // The keys of a session change with it.
  void revision.value;
  const session = id === null ? undefined : sessionSignal(id)?.value;
  const onBoard = openId.value === null && view.value === "board";
  const offline = isOffline.value;
  const field = focusedField();
  const keys = validKeys(session);
  return (
    <footer class="keys">
      <UndoNote />
      {refusal.value ? (
        <p class="key-refused" role="alert" key={refusal.value.count}>
          <kbd>{refusal.value.key}</kbd> did nothing: {refusal.value.why}
        </p>
      ) : offline ? (
        <p class="key-target">
          <Icon name="lock" small /> <b>Answer keys are off</b> until the board is connected
        </p>
      ) : field ? (
        <p class="key-target clip">
          <b>{field.name}</b> keys type here
        </p>
      ) : (
        <Selected session={session} picked={onBoard ? picks.value.length : 0} />
      )}
      <div class="key-list">
        <KeyCaps keys={keys.filter((key) => !isWayOut(key))} class="key-more" />
        <KeyCaps keys={keys.filter(isWayOut)} class="key-exit" />
      </div>
      <Button
        kind="ghost"
        onClick={() => {
          overlay.value = "help";
        }}
        label="All keys"
      >
        {field === null && <kbd>?</kbd>} <span class="all-keys">all keys</span>
      </Button>
    </footer>
  );
}

const KeyCaps = ({ keys, class: cls }: { keys: ValidKey[]; class: string }) => (
  <ul class={cls}>
    {keys.map(([names, label]) => (
      <li key={names}>
        {names.split(" ").map((name) => (name === "…" ? name : <kbd key={name}>{name}</kbd>))}
        {label}
      </li>
    ))}
  </ul>
);

const NOTHING_SELECTED: Record<View, string> = {
  board: "No card selected",
  overview: "No row selected",
  log: "No row selected",
  efforts: "No row selected",
  hosts: "Nothing selected",
};

function Selected({ session, picked }: { session: Session | undefined; picked: number }) {
  if (picked > 0)
    return (
      <p class="key-target">
        <b>{picked} picked</b>
      </p>
    );
  if (!session) return <p class="key-target dim">{NOTHING_SELECTED[view.value]}</p>;
  const { state, what } = headline(session);
  const bunch = openId.value === null ? wholeBunch(layout.value.bunches, session.id) : undefined;
  return (
    <p class="key-target clip">
      <b>{[state, what].filter(Boolean).join(" · ")}</b>{" "}
      {bunch ? `in ${sessionsIn(bunch)} sessions` : session.project.name}
    </p>
  );
}

const SUBJECTS: Partial<Record<Ask["kind"], string>> = {
  question: "question",
  plan: "plan",
  elicitation: "form",
};
const subjectOf = (ask: Ask): string | null => SUBJECTS[ask.kind] ?? ask.tool_name;

/** What was answered by key and can still be taken back. */
function UndoNote() {
  // The element is always there: screen readers read what is added to it.
  return (
    <div class="undo-live" role="status">
      {pendingAnswers.value.length > 0 && <Undo pending={pendingAnswers.value} />}
    </div>
  );
}

function Undo({ pending }: { pending: PendingAnswer[] }) {
  const newest = pending.at(-1);
  const ask = newest?.asks[0];
  if (!newest || !ask) return null;
  const session = sessionSignal(ask.session_id)?.peek();
  const where = newest.asks.length > 1 ? `${newest.asks.length} sessions` : session?.project.name;
  return (
    <div class="undo-note">
      <Icon name="check" small />
      <span class="clip">
        <b>{newest.what}</b> {[subjectOf(ask), where].filter(Boolean).join(" · ")}
        {pending.length > 1 && <span class="dim"> and {pending.length - 1} before it</span>}
      </span>
      <Button onClick={pressUndo}>
        Undo <kbd>z</kbd>
      </Button>
      <span class="dim" aria-hidden="true">
        <Countdown until={newest.sendAt} />
      </span>
    </div>
  );
}
