import { Modal, ModalHead } from "./Modal";
import { closeOverlay } from "./overlay";

const KEYS: [string, [string, string][]][] = [
  [
    "Move",
    [
      ["j k", "next and previous card, or row of the overview"],
      ["h l", "column to the left and right"],
      ["n", "next that needs you"],
      ["g n · g r · g d", "first card of Needs You, Running, Done"],
      ["g b · g o · g u", "board, overview, usage"],
    ],
  ],
  [
    "Act",
    [
      ["Enter", "into the ask, else open the session"],
      ["o", "open the session"],
      ["y n", "allow, deny (inside an ask or its open session)"],
      ["1 … 9", "choose an option there"],
      ["t", "go to its terminal"],
      ["m", "mute or unmute the session"],
    ],
  ],
  [
    "Find",
    [
      ["/", "search"],
      ["Ctrl K · ⌘K", "commands and sessions"],
      ["?", "this page"],
      ["Esc", "close, leave the ask"],
    ],
  ],
];

export function Help() {
  return (
    <Modal label="Keyboard" class="modal help" onClose={closeOverlay}>
      <ModalHead title="Keyboard" onClose={closeOverlay} />
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
