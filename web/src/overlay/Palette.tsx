/** The command palette (Cmd/Ctrl-K): finds commands and sessions by a few letters. */
import { useSignal } from "@preact/signals";
import { focusCard, nextNeed } from "../keys/cursor";
import { density, grouping, nextTheme, showDone, sort } from "../lib/preferences";
import { goTo, openSession } from "../lib/route";
import { allSessions } from "../live/store";
import { Icon, WireIcon } from "../ui/Icon";
import { Modal } from "./Modal";
import { closeOverlay, overlay } from "./overlay";

type Entry = { key: string; text: string; hint: string; icon: string; run: () => void };

const COMMANDS: Entry[] = [
  { key: "next", text: "Next that needs you", hint: "n", icon: "right", run: () => void nextNeed() },
  { key: "board", text: "Go to the board", hint: "g b", icon: "group", run: () => goTo("board") },
  { key: "overview", text: "Go to the overview", hint: "g o", icon: "strip", run: () => goTo("overview") },
  {
    key: "sort",
    text: "Switch order: cache first, urgency first",
    hint: "",
    icon: "warm",
    run: () => {
      sort.value = sort.value === "default" ? "urgency" : "default";
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
    text: "Switch density",
    hint: "",
    icon: "queue",
    run: () => {
      density.value = density.value === "compact" ? "comfortable" : "compact";
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
const SHOWN_MAX = 12;

function find(text: string): Entry[] {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (body: string) => wanted.every((word) => body.toLowerCase().includes(word));
  const sessions: Entry[] = [];
  for (const held of allSessions()) {
    const s = held.peek();
    if (!fits(`${s.title} ${s.project.name} ${s.git_branch} ${s.agent_state.label} ${s.id}`)) continue;
    sessions.push({
      key: s.id,
      text: s.title ?? "No prompt yet",
      hint: [s.project.name, s.git_branch].filter(Boolean).join(" · "),
      icon: s.agent_state.icon,
      run: () => {
        focusCard(s.id);
        openSession(s.id);
      },
    });
  }
  const commands = COMMANDS.filter((c) => fits(c.text));
  return (wanted.length === 0 ? commands : [...sessions.slice(0, SHOWN_MAX - 3), ...commands]).slice(
    0,
    SHOWN_MAX,
  );
}

export function Palette() {
  const text = useSignal("");
  const at = useSignal(0);
  const entries = find(text.value);
  const run = (entry: Entry | undefined) => {
    if (!entry) return;
    closeOverlay();
    entry.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by) {
      event.preventDefault();
      at.value = (at.value + by + entries.length) % Math.max(1, entries.length);
    }
    if (event.key === "Enter" && !event.isComposing) {
      // Otherwise the same key press would also press the first button of the dialog it opens.
      event.preventDefault();
      run(entries[at.value]);
    }
  };
  return (
    <Modal label="Commands" class="modal palette" onClose={closeOverlay}>
      <input
        autofocus
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${at.value}`}
        aria-label="Command or session"
        placeholder="Command or session"
        value={text.value}
        onKeyDown={onKeyDown}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          at.value = 0;
        }}
      />
      {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a list is what a listbox is made of. */}
      <ul id="palette-list" role="listbox" aria-label="Found">
        {entries.map((entry, i) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the text field (aria-activedescendant).
          // biome-ignore lint/a11y/useKeyWithClickEvents: the text field listens to the keys.
          <li
            key={entry.key}
            id={`palette-${i}`}
            // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: see the list.
            role="option"
            aria-selected={i === at.value}
            onPointerMove={() => {
              at.value = i;
            }}
            onClick={() => run(entry)}
          >
            <WireIcon name={entry.icon} small />
            <span class="clip">{entry.text}</span>
            <span class="dim clip">{entry.hint}</span>
          </li>
        ))}
      </ul>
      {entries.length === 0 && (
        <p class="menu-note">
          <Icon name="search" small /> Nothing found
        </p>
      )}
    </Modal>
  );
}
