/**
 * Keyboard shortcuts. Letters move, and act on the selected card or on the session in the drawer. Keys in text
 * fields are ignored. The map is in decision 0018.
 */

import { effect } from "@preact/signals";
import { goToTerminal, mute } from "../card/actions";
import { canPark, PARK_CHOICES, park, unpark } from "../card/parking";
import { openDigest } from "../digest/digestData";
import { closeSession, goTo, openEffortId, openId, openSession, type View, view } from "../lib/route";
import { focusedRow, unfolded } from "../lib/selection";
import { sessionSignal } from "../live/store";
import { isOffline, reconnectNow } from "../live/stream";
import { closeOverlay, overlay } from "../overlay/overlay";
import { pressAnswerKey, pressUndo, startAnswerKeys } from "./answerKeys";
import { targetId } from "./currentAsk";
import { cardElement, cursor, focusCard, nextNeed, stepInLane, stepLane, stepRow } from "./cursor";
import { isTextField, leaveField, startFieldKeys } from "./fieldKeys";
import { goToFirst, goToNeed } from "./goToNeed";
import { clearPicks, pickedSessions, picks, togglePick } from "./picks";
import { type Prefix, prefix } from "./prefix";
import { clearRefusal, isRefused, NOT_CONNECTED, refuse } from "./refusal";

const PREFIX_MS = 1_500;
let prefixAt = Number.NEGATIVE_INFINITY;
let prefixTimer: ReturnType<typeof setTimeout> | undefined;

function startPrefix(name: Prefix, at: number): void {
  prefix.value = name;
  prefixAt = at;
  clearTimeout(prefixTimer);
  prefixTimer = setTimeout(() => {
    prefix.value = null;
  }, PREFIX_MS);
}

/** Keys that move or open another view. */
const GOES_SOMEWHERE = /^[nNjkhlg/?]$/;

export function startKeys(): void {
  startAnswerKeys();
  startFieldKeys();
  showKeyCapsForKeys();
  // A row that is removed with the focus on it may not report that it lost the focus.
  effect(() => {
    void view.value;
    focusedRow.value = null;
  });
  selectWhatWasOpen();
  // A held Enter counts once. Repeats would press the button that the first press focused.
  addEventListener(
    "keydown",
    (event) => {
      if (event.repeat && event.key === "Enter" && !isTextField(event.target)) event.preventDefault();
    },
    { capture: true },
  );
  addEventListener("keydown", (event) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
      overlay.value = overlay.value === "palette" ? null : "palette";
      event.preventDefault();
      return;
    }
    if (isTextField(event.target)) noteTyping(event);
    if (leaveField(event)) {
      event.preventDefault();
      return;
    }
    if (
      event.metaKey ||
      event.ctrlKey ||
      event.altKey ||
      event.defaultPrevented ||
      overlay.value ||
      isTextField(event.target)
    )
      return;
    if (press(event)) event.preventDefault();
  });
  addEventListener("keydown", leaveDigest, { capture: true });
}

/** The drawer may have gone on to another session: closed in any way, the board selects the session that was open last. */
function selectWhatWasOpen(): void {
  let last: string | null = null;
  effect(() => {
    const closed = openId.value === null ? last : null;
    last = openId.value;
    if (closed === null || view.peek() !== "board") return;
    cursor.value = closed;
    // The dialog gives the focus back to the card it was opened from, one frame earlier.
    requestAnimationFrame(() => openId.peek() === null && focusCard(closed));
  });
}

/**
 * The digest gives way to every key that goes somewhere. An answer key does nothing: it would act on what the
 * digest covers.
 */
function leaveDigest(event: KeyboardEvent): void {
  const modified = event.metaKey || event.ctrlKey || event.altKey;
  if (overlay.peek() !== "digest" || modified || !GOES_SOMEWHERE.test(event.key)) return;
  event.preventDefault();
  closeOverlay();
  // Nothing behind the dialog takes the focus before the dialog is gone.
  requestAnimationFrame(() => press(event));
}

/**
 * Key caps are shown after a key press and hidden when the pointer moves. They must not appear or disappear
 * with a mouse press: the button would change its width under the pointer and lose the click.
 */
function showKeyCapsForKeys(): void {
  const root = document.documentElement;
  addEventListener("keydown", ({ key }) => {
    if (!/^(Shift|Control|Alt|Meta)$/.test(key)) root.dataset.keys = "";
  });
  addEventListener("pointermove", ({ movementX, movementY, pointerType }) => {
    if (pointerType !== "touch" && (movementX !== 0 || movementY !== 0)) delete root.dataset.keys;
  });
  // A press selects its card, which must not get caps by that. A card that has caps keeps them.
  addEventListener(
    "pointerdown",
    ({ target }) => {
      const hasCaps = target instanceof Element && target.closest("[data-current]") !== null;
      if (!hasCaps) delete root.dataset.keys;
    },
    { capture: true },
  );
}

/** The text field that was typed in last, and when. */
let typed: { field: HTMLElement; at: number } | null = null;
const AFTER_TYPING_MS = 1_500;

/** Enter and Escape close a field on purpose: the next key is not meant for it. */
function noteTyping({ key, target, timeStamp }: KeyboardEvent): void {
  typed = /^(Enter|Escape)$/.test(key) ? null : { field: target as HTMLElement, at: timeStamp };
}

/** Letters that were meant for a field which has just disappeared must not act. */
function wasMeantForField({ timeStamp }: KeyboardEvent): boolean {
  if (!typed || typed.field.isConnected || timeStamp - typed.at > AFTER_TYPING_MS) return false;
  typed.at = timeStamp;
  return true;
}

function press(event: KeyboardEvent): boolean {
  const { key } = event;
  // A held key counts once: its repeats leave the note of its refusal.
  if (!event.repeat) clearRefusal();
  if (key.length === 1 && wasMeantForField(event))
    return did(() => refuse(key, "the field you typed in was closed; your text is kept"));
  // Compares when the keys were pressed, not when a busy page handled them.
  const first = prefix.peek();
  if (first && event.timeStamp - prefixAt < PREFIX_MS) {
    prefix.value = null;
    if (key === "Escape") return true;
    const acted = first === "g" ? afterG(key) : afterP(key);
    return acted || did(() => refuse(`${first} ${key}`, `no such key after ${first}`));
  }
  if (leavesAsk(event)) return true;
  return pressAnswerKey(event) || onPage(event) || refuseUnknown(event);
}

/** Escape in an ask goes to its card. */
function leavesAsk({ key, target }: KeyboardEvent): boolean {
  if (key !== "Escape" || openId.value !== null || !(target instanceof Element)) return false;
  const card = target.closest("[data-ask]")?.closest<HTMLElement>("[data-card]");
  const armed = target.closest("[data-ask]")?.querySelector(".btn.danger");
  if (!card || armed) return false;
  card.focus();
  return true;
}

function onPage(event: KeyboardEvent): boolean {
  const id = targetId();
  switch (event.key) {
    case "j":
    case "ArrowDown":
    case "k":
    case "ArrowUp":
      return pressStep(event, event.key === "j" || event.key === "ArrowDown" ? 1 : -1);
    case "h":
    case "ArrowLeft":
      return onBoard(() => moveOrRefuse(event, () => stepLane(-1)));
    case "l":
    case "ArrowRight":
      return onBoard(() => moveOrRefuse(event, () => stepLane(1)));
    case "n":
      return did(() => goToNeed(1));
    case "N":
      return did(() => goToNeed(-1));
    case "J":
    case "K":
      return onBoard(() => pickAndStep(event, event.key === "J" ? 1 : -1));
    case "x":
      return id !== null && onBoard(() => pressPick(id));
    case "z":
      return did(pressUndo);
    case "g":
      return did(() => startPrefix("g", event.timeStamp));
    case "p":
      return id !== null && pressPark(id, event);
    case "/":
      return did(goToSearch);
    case "?":
      overlay.value = "help";
      return true;
    case "Enter":
      return enter(event);
    case "o":
      return id !== null && openId.value === null && did(() => openSession(id));
    case "r":
      return id !== null && (openId.value !== null || view.value === "board") && reply(id);
    case "R":
      return isOffline.peek() && did(reconnectNow);
    case "t":
      return id !== null && did(() => void goToTerminal(id));
    case "m":
      return id !== null && did(() => mute(id));
    case "Escape":
      return leaveSession() || leaveEffort() || foldRow() || (picksAreShown() && did(clearPicks));
    default:
      return false;
  }
}

function goToSearch(): void {
  const field = document.getElementById("search");
  if (field) field.focus();
  else refuse("/", "there is nothing to search here");
}

function did(act: () => void): true {
  act();
  return true;
}

function inView(name: View, act: () => void): boolean {
  if (openId.value !== null || view.value !== name) return false;
  act();
  return true;
}
const onBoard = (act: () => void) => inView("board", act);
/** Views that consist of rows. */
const inRows = (act: () => void) => inView("overview", act) || inView("log", act) || inView("efforts", act);

/** x: picks the selected card, or unpicks it. */
function pressPick(id: string): void {
  const why = togglePick(id);
  if (why !== null) refuse("x", why, cardElement(id));
}

/** j and k: in the lane of a card, or in a list. With shift an arrow also picks. */
function pressStep(event: KeyboardEvent, by: 1 | -1): boolean {
  if (event.shiftKey) return onBoard(() => pickAndStep(event, by));
  return (
    inRows(() => moveOrRefuse(event, () => stepRow(by))) ||
    onBoard(() => moveOrRefuse(event, () => stepInLane(by)))
  );
}

const ARROWS: Partial<Record<string, string>> = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
};
const capOf = ({ key }: KeyboardEvent): string => ARROWS[key] ?? key;

/** Moves, or says why nothing moved. A key that is held at the edge says it once. */
function moveOrRefuse(event: KeyboardEvent, move: () => string | null): void {
  const why = move();
  if (why !== null && !(event.repeat && isRefused(capOf(event)))) refuse(capOf(event), why);
}

/** With shift, moving picks the card that the selection leaves and the card that it reaches. */
function pickAndStep(event: KeyboardEvent, by: 1 | -1): void {
  const from = cursor.value;
  const edge = stepInLane(by);
  const ids = [from, cursor.value].filter((id) => id !== null && !picks.value.includes(id)) as string[];
  if (ids.length === 0) moveOrRefuse(event, () => edge);
  for (const id of new Set(ids)) {
    const why = togglePick(id);
    if (why !== null) refuse(capOf(event), why, cardElement(id));
  }
}

/** A letter or sign without a meaning here. Other keys belong to the browser. */
function refuseUnknown({ key, target, repeat }: KeyboardEvent): boolean {
  if (key.length !== 1 || key === " " || repeat || (target instanceof Element && target.closest(".menu")))
    return false;
  refuse(key, "no such key here, ? lists all keys");
  return true;
}

function afterG(key: string): boolean {
  const views: Record<string, () => void> = {
    b: () => goTo("board"),
    o: () => goTo("overview"),
    l: () => goTo("log"),
    e: () => goTo("efforts"),
    h: () => goTo("hosts"),
    a: openDigest,
    n: () => goToFirst("needs"),
    r: () => goToFirst("running"),
    d: () => goToFirst("done"),
    u: () => {
      overlay.value = "usage";
    },
  };
  views[key]?.();
  return key in views;
}

const picksAreShown = () => openId.value === null && view.value === "board" && picks.value.length > 0;

const PARKS_NOTHING = `${NOT_CONNECTED}, so nothing can be parked`;

/** p: asks until when to park, or ends the parking of a session. */
function pressPark(id: string, event: KeyboardEvent): boolean {
  if (isOffline.peek()) return did(() => refuse("p", PARKS_NOTHING, cardElement(id)));
  if (picksAreShown()) return did(() => pressParkPicks(event));
  const session = sessionSignal(id)?.peek();
  if (session?.parked) return did(() => void unpark(id));
  if (session && canPark(session)) return did(() => startPrefix("p", event.timeStamp));
  return did(() => refuse("p", "only an idle session can be parked", cardElement(id)));
}

function pressParkPicks(event: KeyboardEvent): void {
  const blocked = pickedSessions().filter((session) => !canPark(session)).length;
  if (blocked > 0) refuse("p", `${blocked} of ${picks.value.length} picked cannot be parked`);
  else startPrefix("p", event.timeStamp);
}

function afterP(key: string): boolean {
  const id = targetId();
  const choice = PARK_CHOICES.find((one) => one.key === key || (key === "p" && one.until === "event"));
  if (!choice || id === null) return false;
  if (isOffline.peek()) return did(() => refuse(`p ${key}`, PARKS_NOTHING, cardElement(id)));
  if (picksAreShown()) {
    for (const one of picks.value) void park(one, choice.until);
    clearPicks();
    return true;
  }
  void park(id, choice.until);
  // Selects the next card, because the parked card leaves its place.
  if (openId.value === null && view.value === "board") nextNeed(1);
  return true;
}

/** Enter on a card opens the session. In the drawer it goes into the ask. */
function enter(event: KeyboardEvent): boolean {
  if (event.target instanceof Element && event.target.closest("button, a, summary")) return false;
  if (openId.value !== null)
    return enterDrawerAsk() || did(() => refuse("↵", "there is no answer to go to in this session"));
  const id = event.target instanceof HTMLElement ? event.target.dataset.card : undefined;
  const selected =
    id ?? (view.value === "board" && cursor.value && cardElement(cursor.value) ? cursor.value : null);
  if (selected === null) return did(() => refuse("↵", whyNothingOpens()));
  openSession(selected);
  return true;
}

function whyNothingOpens(): string {
  if (view.value === "board") return "no card is selected, n goes to the next";
  return view.value === "hosts" ? "nothing can be opened here" : "no row is selected, j goes to the first";
}

function enterDrawerAsk(): boolean {
  const button = document.querySelector<HTMLElement>(
    "[data-drawer] [data-ask] .btn.primary, [data-drawer] [data-ask] .option",
  );
  button?.focus();
  return button !== null;
}

/** r: into the field for the next prompt. */
function reply(id: string): boolean {
  const around = openId.value === null ? cardElement(id) : document.querySelector("[data-drawer]");
  // The field of an idle card is hidden until the card has the focus.
  if (around instanceof HTMLElement && openId.value === null) around.focus({ preventScroll: true });
  const field = around?.querySelector<HTMLElement>(".compose textarea");
  if (!field) return did(() => refuse("r", "no prompt can be sent to it now", around));
  field.focus();
  return true;
}

/** In the densest view the card that a key selected is unfolded. */
function foldRow(): boolean {
  if (unfolded.peek() === null || view.value !== "board") return false;
  unfolded.value = null;
  return true;
}

/** Back to the list of efforts. */
function leaveEffort(): boolean {
  return openEffortId.value !== null && inView("efforts", () => goTo("efforts"));
}

function leaveSession(): boolean {
  if (openId.value === null) return false;
  closeSession();
  return true;
}
