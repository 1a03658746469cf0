import { undoSeconds } from "../lib/preferences";
import { Segmented } from "../ui/Button";
import { Modal, ModalHead } from "./Modal";
import { closeOverlay } from "./overlay";

const KEYS: [string, [string, string][]][] = [
  [
    "Answer the selected card or the open session",
    [
      ["y", "allow, approve, send; next question if there is one"],
      ["d", "deny, reject a plan, decline a form"],
      ["D", "deny with a message"],
      ["a", "always allow what was suggested; approve a plan and accept edits"],
      ["1 … 9", "choose an option, or take the choice back"],
      ["[ · ]", "question before and after"],
      ["r", "own answer, or the next prompt"],
      ["w", "make a rule of it: it then answers such requests by itself"],
      ["u", "of requests that are alike: show them one by one"],
      ["z", "take the last answer back before it is sent"],
      ["y y", "twice quickly: send without waiting"],
    ],
  ],
  [
    "Move",
    [
      ["n · N", "next and previous that needs you, also in the drawer"],
      ["j · k", "next and previous card, or row of the overview, the log and the efforts"],
      ["h · l", "column to the left and right"],
      ["g n · g r · g d", "first card of Needs You, Running, Done"],
      ["g b · g o · g l · g e · g u", "board, overview, log, efforts, usage"],
      ["g h", "the hosts"],
      ["g a", "what happened while you were away"],
    ],
  ],
  [
    "Several cards",
    [
      ["x", "pick the selected card, or take it out again"],
      ["J · K", "pick and move; Shift and click picks a range"],
      ["y · d · p", "allow, deny or park all picked cards"],
      ["Esc", "clear the picks"],
    ],
  ],
  [
    "Session",
    [
      ["Enter · o", "open the session"],
      ["p", "park an idle session: then e next event, h hour, t tomorrow; p on a parked one takes it back"],
      ["t", "go to its terminal"],
      ["m", "mute or unmute the session"],
      ["Esc", "close, leave the ask"],
    ],
  ],
  [
    "Find",
    [
      ["/", "search"],
      ["Ctrl K · ⌘K", "commands and sessions"],
      ["?", "this page"],
      ["R", "connect now, while the connection is lost"],
    ],
  ],
];

const UNDO_CHOICES = [0, 2, 5].map((seconds) => ({
  value: String(seconds),
  label: seconds === 0 ? "Send at once" : `${seconds} s`,
}));

/** How long an answer by key can be taken back. */
const UndoSetting = () => (
  <div class="help-setting">
    <span>An answer given by key can be taken back for</span>
    <Segmented
      name="Undo time"
      value={String(undoSeconds.value)}
      choices={UNDO_CHOICES}
      onChange={(value) => {
        undoSeconds.value = Number(value);
      }}
    />
  </div>
);

export function Help() {
  return (
    <Modal label="Keyboard" class="modal help" onClose={closeOverlay}>
      <ModalHead title="Keyboard" onClose={closeOverlay} />
      <UndoSetting />
      <div class="help-cols">
        {KEYS.map(([title, keys]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(([key, text]) => [
                <dt key={key}>
                  {key.split(" · ").map((k, i) => (
                    <>
                      {i > 0 && " "}
                      <kbd>{k}</kbd>
                    </>
                  ))}
                </dt>,
                <dd key={text}>{text}</dd>,
              ])}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  );
}
