import type { Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { useFieldKeys } from "../keys/fieldKeys";
import type { ValidKey } from "../keys/validKeys";
import { Button, useIsOff } from "../ui/Button";
import { Icon } from "../ui/Icon";

type MessageBoxProps = {
  draft: Signal<string>;
  label: string;
  send: string;
  onSend: (text: string, event: UIEvent) => void;
  onCancel: () => void;
};

/**
 * A text that goes with an answer. Enter sends, Shift-Enter starts a new line, Escape cancels and clears the
 * text.
 */
export function MessageBox({ draft, label, send, onSend, onCancel }: MessageBoxProps) {
  const off = useIsOff();
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // Opening the box removed the button that had the focus, so the focus is in the ask or on an element
    // around it: its card, the drawer or the body. If the focus is elsewhere, the box was only drawn again and
    // must not take it.
    const focus = document.activeElement;
    const around = focus?.contains(box.current) || box.current?.closest("[data-ask]")?.contains(focus);
    const inDrawer = box.current?.closest("[data-drawer]")?.contains(focus);
    if (around || inDrawer) box.current?.focus();
  }, []);
  const submit = (event: UIEvent) => {
    const text = draft.value.trim();
    if (text && !off) onSend(text, event);
  };
  const cancel = () => {
    draft.value = "";
    onCancel();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      submit(event);
    }
    if (event.key === "Escape") {
      event.preventDefault();
      cancel();
    }
  };
  useFieldKeys(box, [
    ...(off ? [] : [["↵", send.toLowerCase()] satisfies ValidKey]),
    ["⇧↵", "new line"],
    ["Esc", "cancel"],
  ]);
  return (
    <div class="message-box">
      <textarea
        ref={box}
        rows={2}
        aria-label={label}
        placeholder={label}
        value={draft.value}
        onInput={(event) => {
          draft.value = event.currentTarget.value;
        }}
        onKeyDown={onKeyDown}
      />
      {off && draft.value.trim() !== "" && (
        <p class="kept-note">
          <Icon name="lock" small />
          Your text is kept. It was not sent.
        </p>
      )}
      <div class="answer">
        <Button kind="primary" onClick={submit}>
          {send}
        </Button>
        <Button kind="ghost" onClick={cancel}>
          Cancel
        </Button>
      </div>
    </div>
  );
}
