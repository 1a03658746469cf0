import type { Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "../ui/Button";

type MessageBoxProps = { draft: Signal<string>; label: string; send: string; onSend: (text: string) => void; onCancel: () => void };

/** A line of words that goes with an answer. Enter sends, Shift-Enter breaks the line, Escape gives up and forgets them. */
export function MessageBox({ draft, label, send, onSend, onCancel }: MessageBoxProps) {
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // The button that opened it left the focus to nobody, or to its ask. A box that was only drawn anew takes it from nobody else.
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
      <textarea ref={box} rows={2} aria-label={label} placeholder={label} value={draft.value} onInput={(event) => { draft.value = event.currentTarget.value; }} onKeyDown={onKeyDown} />
      <div class="answer">
        <Button kind="primary" onClick={submit}>{send}</Button>
        <Button kind="ghost" onClick={cancel}>Cancel</Button>
      </div>
    </div>
  );
}
