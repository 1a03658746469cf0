/** The line at the bottom of the board and of the drawer: the keys that are valid now, and the last refusal. */
import { pendingAnswers, pendingOf } from "../ask/giveAnswer";
import { plainAskOf } from "../ask/plainAsk";
import { headline } from "../card/headline";
import { canPark, PARK_CHOICES } from "../card/parking";
import type { Session } from "../generated/Session";
import { openId, view } from "../lib/route";
import { can } from "../live/capabilities";
import { revision, sessionSignal } from "../live/store";
import { isOffline } from "../live/stream";
import { overlay } from "../overlay/overlay";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Countdown } from "../ui/Timer";
import { pressUndo } from "./answerKeys";
import { type AskKeys, askKeysOf } from "./askKeys";
import { currentAskOf, targetId } from "./currentAsk";
import { pickedSessions, picks } from "./picks";
import { prefix } from "./prefix";
import { refusal } from "./refusal";

type ValidKey = [keys: string, label: string];

export function KeyFooter() {
  const id = targetId();
  // The keys of a session change with it.
  void revision.value;
  const session = id === null ? undefined : sessionSignal(id)?.value;
  const offline = isOffline.value;
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
      ) : (
        <Selected session={session} picked={openId.value === null ? picks.value.length : 0} />
      )}
      <ul class="key-list">
        {validKeys(session).map(([keys, label]) => (
          <li key={keys}>
            {keys.split(" ").map((name) => (
              <kbd key={name}>{name}</kbd>
            ))}
            {label}
          </li>
        ))}
      </ul>
      <Button
        kind="ghost"
        onClick={() => {
          overlay.value = "help";
        }}
        label="All keys"
      >
        <kbd>?</kbd> all keys
      </Button>
    </footer>
  );
}

function Selected({ session, picked }: { session: Session | undefined; picked: number }) {
  if (picked > 0)
    return (
      <p class="key-target">
        <b>{picked} picked</b>
      </p>
    );
  if (!session) return <p class="key-target dim">No card selected</p>;
  const { state, what } = headline(session);
  return (
    <p class="key-target clip">
      <b>{[state, what].filter(Boolean).join(" · ")}</b> {session.project.name}
    </p>
  );
}

/** The keys that act now, the most useful first: a narrow page shows only those that fit. */
function validKeys(session: Session | undefined): ValidKey[] {
  if (prefix.value === "g") return PLACES;
  if (prefix.value === "p") return PARK_CHOICES.map(({ key, label }) => [key, label]);
  const inDrawer = openId.value !== null;
  if (!inDrawer && picks.value.length > 0) return pickKeys();
  const ask = session ? currentAskOf(session) : null;
  const answered = ask !== null && pendingOf(ask.id) !== undefined;
  const keys: ValidKey[] =
    ask && !answered && !isOffline.value ? answerKeys(askKeysOf(ask.id, inDrawer)) : [];
  if (pendingAnswers.value.length > 0) keys.push(["z", "undo"]);
  keys.push(["n", "next"]);
  if (session && !inDrawer) keys.push(["↵", "open"]);
  if (isOffline.value) keys.push(["R", "try to connect now"]);
  else if (session?.takes === "prompt") keys.push(["r", "reply"]);
  if (session && can("park") && !isOffline.value && (session.parked || canPark(session)))
    keys.push(["p", session.parked ? "take back" : "park"]);
  if (session?.agent_state.group === "needs_you" && !inDrawer) keys.push(["x", "pick"]);
  if (session?.seat.pane && !isOffline.value) keys.push(["t", "terminal"]);
  if (inDrawer) keys.push(["Esc", "close"]);
  else if (view.value === "board") keys.push(["j k", "move"], ["/", "search"]);
  return keys;
}

/** The keys that act on all picked cards, if they can. */
function pickKeys(): ValidKey[] {
  const sessions = pickedSessions();
  const keys: ValidKey[] = [];
  const n = sessions.length;
  if (!isOffline.value && sessions.every((session) => plainAskOf(session) !== null))
    keys.push(["y", `allow ${n}`], ["d", `deny ${n}`]);
  if (!isOffline.value && can("park") && sessions.every(canPark)) keys.push(["p", `park ${n}`]);
  return [...keys, ["x", "pick or unpick"], ["J K", "pick more"], ["Esc", "clear"], ["n", "next"]];
}

const PLACES: ValidKey[] = [
  ["n", "Needs You"],
  ["r", "Running"],
  ["d", "Done"],
  ["b", "board"],
  ["o", "overview"],
  ["u", "usage"],
];

/** Digits are listed as one entry; their options have the caps. */
function answerKeys(keys: AskKeys): ValidKey[] {
  const valid = Object.entries(keys).flatMap(([name, { label }]): ValidKey[] =>
    label === null ? [] : [[name === "Escape" ? "Esc" : name, label]],
  );
  const digits = valid.filter(([name]) => /^\d$/.test(name));
  const others = valid.filter(([name]) => !/^\d$/.test(name));
  return digits.length > 0 ? [[`1 … ${digits.length}`, "choose"], ...others] : others;
}

/** What was answered by key and can still be taken back. */
function UndoNote() {
  const pending = pendingAnswers.value;
  const newest = pending.at(-1);
  const ask = newest?.asks[0];
  if (!newest || !ask) return null;
  const session = sessionSignal(ask.session_id)?.peek();
  const where = newest.asks.length > 1 ? `${newest.asks.length} sessions` : session?.project.name;
  return (
    <div class="undo-note" role="status">
      <Icon name="check" small />
      <span class="clip">
        <b>{newest.what}</b> {[ask.tool_name, where].filter(Boolean).join(" · ")}
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
