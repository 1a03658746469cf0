import type { Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "../ui/Button";

type MessageBoxProps = {
  draft: Signal<string>;
  label: string;
  send: string;
  onSend: (text: string) => void;
  onCancel: () => void;
};

/**
 * A text that goes with an answer. Enter sends, Shift-Enter starts a new line, Escape cancels and clears the
 * text.
 */
export function MessageBox({ draft, label, send, onSend, onCancel }: MessageBoxProps) {
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // Opening the box removed the button that had the focus, so the focus is on the body or in the ask. If
    // the focus is elsewhere, the box was only drawn again and must not take it.
    const focus = document.activeElement;
    if (focus === document.body || box.current?.closest("[data-ask]")?.contains(focus)) box.current?.focus();
  }, []);
  const submit = () => {
    const text = draft.value.trim();
    if (text) onSend(text);
  };
  const cancel = () => {
    draft.value = "";
    onCancel();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      submit();
    }
    if (event.key === "Escape") cancel();
  };
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
