import { useEffect, useRef } from "preact/hooks";
import { Button } from "../ui/Button";

type MessageBoxProps = { label: string; send: string; onSend: (text: string) => void; onCancel?: () => void; placeholder?: string };

/** A line of words that goes with an answer. Enter sends, Shift-Enter breaks the line, Escape gives up. */
export function MessageBox({ label, send, onSend, onCancel, placeholder }: MessageBoxProps) {
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => box.current?.focus(), []);
  const submit = () => {
    const text = box.current?.value.trim();
    if (text) onSend(text);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      submit();
    }
    if (event.key === "Escape") onCancel?.();
  };
  return (
    <div class="message-box">
      <textarea ref={box} rows={2} aria-label={label} placeholder={placeholder ?? label} onKeyDown={onKeyDown} />
      <div class="answer">
        <Button kind="primary" onClick={submit}>{send}</Button>
        {onCancel && <Button kind="ghost" onClick={onCancel}>Cancel</Button>}
      </div>
    </div>
  );
}
