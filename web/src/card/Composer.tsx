import { useSignal } from "@preact/signals";
import { useContext } from "preact/hooks";
import { TabStop } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { sendPrompt } from "./actions";

/** The next prompt, typed into the session's own terminal by the daemon. */
export function Composer({ id, placeholder }: { id: string; placeholder: string }) {
  const text = useSignal("");
  const busy = useSignal(false);
  const tab = useContext(TabStop);
  const send = async () => {
    if (!text.value.trim() || busy.value) return;
    busy.value = true;
    if (await sendPrompt(id, text.value)) text.value = "";
    busy.value = false;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      void send();
    }
    if (event.key === "Escape") (event.currentTarget as HTMLElement).closest<HTMLElement>("[data-card]")?.focus();
  };
  return (
    <div class="compose">
      <textarea
        rows={1} tabIndex={tab} aria-label="Next prompt" placeholder={placeholder} value={text.value} disabled={busy.value}
        onInput={(event) => { text.value = event.currentTarget.value; }} onKeyDown={onKeyDown}
      />
      <button type="button" class="send" tabIndex={tab} aria-label="Send prompt" disabled={!text.value.trim() || busy.value} onClick={() => void send()}>
        <Icon name="send" small />
      </button>
    </div>
  );
}
