/** The keys that act now, for the line at the bottom: the most useful first, because a narrow page shows few. */
import { pendingAnswers, pendingOf } from "../ask/giveAnswer";
import { layout } from "../board/currentLayout";
import { canPark, PARK_CHOICES } from "../card/parking";
import { efforts, isEmpty } from "../efforts/effortsData";
import type { Session } from "../generated/Session";
import { openEffortId, openId, view } from "../lib/route";
import { unfolded } from "../lib/selection";
import { can } from "../live/capabilities";
import { isOffline } from "../live/stream";
import { logRows } from "../log/logData";
import { overlay } from "../overlay/overlay";
import { historyRows } from "../overview/history";
import { menuIsOpen } from "../ui/Menu";
import { type AskKeys, askKeysOf } from "./askKeys";
import { currentAskOf, targetId } from "./currentAsk";
import { needQueue } from "./cursor";
import { focusedField } from "./fieldKeys";
import { pickedAsks, pickedSessions, picks } from "./picks";
import { prefix } from "./prefix";

/** Several keys are separated by spaces. */
export type ValidKey = [keys: string, label: string];

/** The key that leads out of what is open: it is never left out for lack of room. */
export const isWayOut = ([keys]: ValidKey): boolean => keys === "Esc";

/** Keys of an ask that go into a form: a narrow page leaves them out first. */
const isRare = ([keys]: ValidKey): boolean => /^[Dw]$/.test(keys);

export function validKeys(session: Session | undefined): ValidKey[] {
  if (overlay.value === "palette" || menuIsOpen.value) return MENU;
  if (overlay.value) return [["Esc", "close"]];
  const field = focusedField();
  if (field) return field.keys;
  if (prefix.value === "g") return PLACES;
  if (prefix.value === "p") return [...PARK_CHOICES.map(({ key, label }): ValidKey => [key, label]), CANCEL];
  if (openId.value !== null) return withWayOut(keysOf(session, true), "close");
  switch (view.value) {
    case "overview":
    case "log":
      return rowKeys(session);
    case "efforts":
      return effortKeys(session);
    case "hosts":
      return [...nextKey(), ["g b", "board"], ...connectKey()];
    case "board":
      return picks.value.length > 0 ? pickKeys() : boardKeys(session);
  }
}

/** Escape means one thing at a time: first it disarms an answer. */
const withWayOut = (keys: ValidKey[], label: string): ValidKey[] =>
  keys.some(isWayOut) ? keys : [...keys, ["Esc", label]];

const CANCEL: ValidKey = ["Esc", "cancel"];
const MENU: ValidKey[] = [
  ["↑ ↓", "move"],
  ["↵", "choose"],
  ["Esc", "close"],
];
const PLACES: ValidKey[] = [
  ["n", "Needs You"],
  ["r", "Running"],
  ["d", "Done"],
  ["b", "board"],
  ["o", "overview"],
  ["l", "log"],
  ["e", "efforts"],
  ["h", "hosts"],
  ["a", "while you were away"],
  ["u", "usage"],
  CANCEL,
];

function boardKeys(session: Session | undefined): ValidKey[] {
  const keys = keysOf(session, false);
  if (session?.agent_state.group === "needs_you") keys.push(["x", "pick"]);
  if (layout.value.shown > 0) keys.push(["j k", "move"]);
  if (layout.value.known > 0) keys.push(["/", "search"]);
  return session && unfolded.value === session.id ? withWayOut(keys, "fold") : keys;
}

/** The rows of the overview and of the log are opened; requests are answered on the board and in the drawer. */
function rowKeys(session: Session | undefined): ValidKey[] {
  const keys: ValidKey[] = session ? [["↵", "open"], ...sessionKeys(session)] : [];
  if ((view.value === "log" ? logRows : historyRows).value.length > 0) keys.push(["j k", "move"]);
  return [...keys, ...nextKey(), ["/", "search"], ["g b", "board"], ...connectKey()];
}

/** Enter opens the effort of a row, o its session. */
function effortKeys(session: Session | undefined): ValidKey[] {
  const keys: ValidKey[] = session ? [["o", "session"], ...sessionKeys(session)] : [];
  if (efforts.value.length > 0) keys.unshift(["j k", "move"], ["↵", "open"]);
  keys.push(...nextKey());
  if (!isEmpty.value) keys.push(["/", "search"]);
  keys.push(["g b", "board"], ...connectKey());
  return openEffortId.value === null ? keys : withWayOut(keys, "all efforts");
}

/** The keys of the selected card or of the open session. */
function keysOf(session: Session | undefined, inDrawer: boolean): ValidKey[] {
  const ask = session ? currentAskOf(session) : null;
  const answered = ask !== null && pendingOf(ask.id) !== undefined;
  const answers: ValidKey[] =
    ask && !answered && !isOffline.value ? answerKeys(askKeysOf(ask.id, inDrawer)) : [];
  const keys = answers.filter((key) => !isRare(key));
  if (pendingAnswers.value.length > 0) keys.push(["z", "undo"]);
  keys.push(...nextKey());
  if (session && !inDrawer) keys.push(["↵", "open"]);
  keys.push(...answers.filter(isRare), ...connectKey());
  if (!isOffline.value && session?.takes === "prompt" && can("prompt")) keys.push(["r", "reply"]);
  return session ? [...keys, ...sessionKeys(session)] : keys;
}

function sessionKeys(session: Session): ValidKey[] {
  if (isOffline.value) return [];
  const keys: ValidKey[] = [];
  if (can("park") && (session.parked || canPark(session)))
    keys.push(["p", session.parked ? "take back" : "park"]);
  if (session.seat.pane && can("focus")) keys.push(["t", "terminal"]);
  return keys;
}

/** n goes to another session, or from another view to the board. */
function nextKey(): ValidKey[] {
  const here = openId.value !== null || view.value === "board" ? targetId() : null;
  return needQueue().some((id) => id !== here) ? [["n", "next"]] : [];
}

const connectKey = (): ValidKey[] => (isOffline.value ? [["R", "try to connect now"]] : []);

/** The keys that act on all picked cards, if they can. */
function pickKeys(): ValidKey[] {
  const sessions = pickedSessions();
  const keys: ValidKey[] = [];
  const n = sessions.length;
  const { asks, others } = pickedAsks();
  if (!isOffline.value && others === 0)
    keys.push(["y", `allow ${asks.length}`], ["d", `deny ${asks.length}`]);
  if (!isOffline.value && can("park") && sessions.every(canPark)) keys.push(["p", `park ${n}`]);
  return [...keys, ["x", "pick or unpick"], ["J K", "pick more"], ["Esc", "clear"], ...nextKey()];
}

/** Digits are listed as one entry; their options have the caps. */
function answerKeys(keys: AskKeys): ValidKey[] {
  const valid = Object.entries(keys).flatMap(([name, { label }]): ValidKey[] =>
    label === null ? [] : [[name === "Escape" ? "Esc" : name, label]],
  );
  const digits = valid.filter(([name]) => /^\d$/.test(name));
  const others = valid.filter(([name]) => !/^\d$/.test(name));
  return digits.length > 0 ? [[`1 … ${digits.length}`, "choose"], ...others] : others;
}
