/** The command palette (Cmd/Ctrl-K): finds commands and sessions by a few letters. */
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { ToolInputView } from "../ask/ToolInputView";
import { toolInput } from "../ask/toolInput";
import { headline, openAsks } from "../card/headline";
import { openDigest } from "../digest/digestData";
import type { Ask } from "../generated/Ask";
import type { Session } from "../generated/Session";
import { focusCard } from "../keys/cursor";
import { goToNeed } from "../keys/goToNeed";
import { density, grouping, nextTheme, showDone, sort } from "../lib/preferences";
import { goTo, openSession } from "../lib/route";
import { allSessions } from "../live/store";
import { Icon, WireIcon } from "../ui/Icon";
import { Modal } from "./Modal";
import { closeOverlay, overlay } from "./overlay";
import { answersTo, lineOf } from "./paletteAnswers";

type Entry = {
  key: string;
  text: string;
  hint: string;
  icon: string;
  /** The request that the entry answers. All of it is shown while the entry is selected. */
  ask?: Ask;
  run: (event: UIEvent) => void;
};

const next = <T,>(all: T[], now: T): T => all[(all.indexOf(now) + 1) % all.length] ?? now;

/** Nothing behind the dialog takes the focus before the dialog is gone. */
const afterClosing = (act: () => void) => () => void requestAnimationFrame(act);

const COMMANDS: Entry[] = [
  {
    key: "next",
    text: "Next that needs you",
    hint: "n",
    icon: "right",
    run: afterClosing(() => goToNeed(1)),
  },
  { key: "board", text: "Go to the board", hint: "g b", icon: "group", run: () => goTo("board") },
  { key: "overview", text: "Go to the overview", hint: "g o", icon: "strip", run: () => goTo("overview") },
  {
    key: "log",
    text: "Go to the log: what was asked, and the result",
    hint: "g l",
    icon: "log",
    run: () => goTo("log"),
  },
  {
    key: "efforts",
    text: "Go to the efforts: skills over several context windows",
    hint: "g e",
    icon: "phase",
    run: () => goTo("efforts"),
  },
  {
    key: "hosts",
    text: "Go to the hosts: last seen, backlog, clocks",
    hint: "g h",
    icon: "server",
    run: () => goTo("hosts"),
  },
  {
    key: "group-host",
    text: "Group by host, on or off",
    hint: "",
    icon: "server",
    run: () => {
      grouping.value = grouping.value === "host" ? "quiet" : "host";
    },
  },
  {
    key: "digest",
    text: "Digest: what happened while you were away",
    hint: "g a",
    icon: "asks",
    run: openDigest,
  },
  {
    key: "sort",
    text: "Switch order: cache first, urgency first, longest waiting first",
    hint: "",
    icon: "warm",
    run: () => {
      sort.value = next(["default", "urgency", "waiting"], sort.value);
    },
  },
  {
    key: "group",
    text: "Group by project, on or off",
    hint: "",
    icon: "group",
    run: () => {
      grouping.value = grouping.value === "none" ? "quiet" : "none";
    },
  },
  {
    key: "density",
    text: "Switch density: comfortable, compact, rows",
    hint: "",
    icon: "queue",
    run: () => {
      density.value = next(["comfortable", "compact", "rows"], density.value);
    },
  },
  {
    key: "done",
    text: "Show or hide Done",
    hint: "",
    icon: "check",
    run: () => {
      showDone.value = !showDone.value;
    },
  },
  { key: "theme", text: "Switch between dark and light", hint: "", icon: "theme", run: nextTheme },
  {
    key: "usage",
    text: "Usage: what was spent, and rate limits",
    hint: "g u",
    icon: "usage",
    run: () => {
      overlay.value = "usage";
    },
  },
  {
    key: "alerts",
    text: "Notifications",
    hint: "",
    icon: "bell",
    run: () => {
      overlay.value = "alerts";
    },
  },
  {
    key: "help",
    text: "Keyboard",
    hint: "?",
    icon: "form",
    run: () => {
      overlay.value = "help";
    },
  },
];
const SHOWN_MAX = 20;
/** Room for commands, however many sessions fit. */
const COMMANDS_MIN = 6;
const SESSIONS_MAX = 8;
/** The answers of so many sessions are listed: those that need the person first. */
const ANSWERED_MAX = 3;

function find(text: string): Entry[] {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (body: string) => wanted.every((word) => body.toLowerCase().includes(word));
  const sessions = Array.from(allSessions(), (held) => held.peek())
    .filter((s) => (wanted.length > 0 ? fits(searched(s)) : needs(s)))
    .sort(byNeed)
    .slice(0, SESSIONS_MAX);
  const commands = COMMANDS.filter((c) => fits(c.text));
  // "log" means the log and not a changelog, unless a session has the word itself.
  const startsWord = (body: string) => wanted.every((word) => startsAWord(body.toLowerCase(), word));
  const isCommand =
    commands.some((c) => startsWord(c.text)) && !sessions.some((s) => startsWord(searched(s)));
  const answered = sessions.filter((s) => answersTo(s).length > 0).slice(0, ANSWERED_MAX);
  const found = sessions.flatMap((s) => [sessionEntry(s), ...(answered.includes(s) ? answerEntries(s) : [])]);
  const room = SHOWN_MAX - Math.min(commands.length, COMMANDS_MIN);
  const ranked = isCommand ? [commands, found] : [found.slice(0, room), commands];
  return ranked.flat().slice(0, SHOWN_MAX);
}

/** Whether a word of the text begins like this; `-`, `_`, `/` and the like end a word. */
const startsAWord = (text: string, start: string): boolean =>
  text.startsWith(start) || text.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(start));

const needs = (s: Session) => s.waiting?.counts === true && !s.parked;

const seatOf = ({ seat }: Session) => [seat.name, seat.pane].filter(Boolean).join(" ");
const searched = (s: Session) =>
  `${s.title} ${s.project.name} ${s.git_branch} ${s.agent_state.label} ${s.waiting?.label} ${seatOf(s)} ${s.seat.pid} ${s.id} ${openAsks(s).map(lineOf).join(" ")}`;

/** Needs You first, in the order of the board. */
const GROUP_ORDER = { needs_you: 0, running: 1, done: 2 };
function byNeed(a: Session, b: Session): number {
  const place = (s: Session) =>
    `${GROUP_ORDER[s.agent_state.group]}${needs(s) ? 0 : 1}${s.rank[sort.peek()]}`;
  return place(a) < place(b) ? -1 : 1;
}

const sessionEntry = (s: Session): Entry => ({
  key: s.id,
  text: s.title ?? "No prompt yet",
  hint: [headline(s).state, s.project.name, seatOf(s), s.git_branch].filter(Boolean).join(" · "),
  icon: s.waiting?.icon ?? s.agent_state.icon,
  run: () => {
    focusCard(s.id);
    openSession(s.id);
  },
});

const answerEntries = (s: Session): Entry[] =>
  answersTo(s).map((answer) => ({
    ...answer,
    hint: [s.project.name, seatOf(s)].filter(Boolean).join(" · "),
    icon: "rule",
  }));

export function Palette() {
  const text = useSignal("");
  // By its key: a request that is answered elsewhere meanwhile leaves the list, and others move up.
  const chosen = useSignal<string | null>(null);
  const entries = find(text.value);
  const at = Math.max(
    0,
    entries.findIndex(({ key }) => key === chosen.value),
  );
  const selected = entries[at];
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [selected?.key]);
  const run = (entry: Entry | undefined, event: UIEvent) => {
    if (!entry) return;
    closeOverlay();
    entry.run(event);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by) {
      event.preventDefault();
      chosen.value = entries[(at + by + entries.length) % Math.max(1, entries.length)]?.key ?? null;
    }
    if (event.key === "Enter" && !event.isComposing) {
      // Otherwise the same key press would also press the first button of the dialog it opens.
      event.preventDefault();
      run(selected, event);
    }
  };
  return (
    <Modal label="Commands" class="modal palette" onClose={closeOverlay}>
      <input
        autofocus
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${at}`}
        aria-describedby={selected?.ask && "palette-ask"}
        aria-label="Command or session"
        placeholder="Command or session"
        value={text.value}
        onKeyDown={onKeyDown}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          chosen.value = null;
        }}
      />
      {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a list is what a listbox is made of. */}
      <ul ref={list} id="palette-list" role="listbox" aria-label="Found">
        {entries.map((entry, i) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the text field (aria-activedescendant).
          // biome-ignore lint/a11y/useKeyWithClickEvents: the text field listens to the keys.
          <li
            key={entry.key}
            id={`palette-${i}`}
            // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: see the list.
            role="option"
            aria-selected={i === at}
            onPointerMove={() => {
              chosen.value = entry.key;
            }}
            onClick={(event) => run(entry, event)}
          >
            <WireIcon name={entry.icon} small />
            <span class="clip">{entry.text}</span>
            <span class={COMMANDS.includes(entry) ? "dim clip is-key" : "dim clip"}>{entry.hint}</span>
          </li>
        ))}
      </ul>
      {selected?.ask && (
        <div class="palette-ask" id="palette-ask">
          <ToolInputView input={toolInput(selected.ask)} />
        </div>
      )}
      {entries.length === 0 && (
        <p class="menu-note">
          <Icon name="search" small /> Nothing found
        </p>
      )}
    </Modal>
  );
}
