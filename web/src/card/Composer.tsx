import { useSignal } from "@preact/signals";
import { useContext, useRef } from "preact/hooks";
import { useFieldKeys } from "../keys/fieldKeys";
import type { ValidKey } from "../keys/validKeys";
import { draftOf } from "../lib/drafts";
import type { How } from "../live/api";
import { isOffline } from "../live/stream";
import { Button, TabStop } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { sendPrompt } from "./actions";
import type { PromptCheck } from "./promptChecks";

/** The text field for the next prompt. The daemon types it into the session's terminal. */
export function Composer({ id, placeholder }: { id: string; placeholder: string }) {
  const { text, busy, check, send, dropCheck } = usePromptSending(id);
  const tab = useContext(TabStop);
  const field = useRef<HTMLTextAreaElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      if (!check.value) void send();
    }
    if (event.key !== "Escape" || !check.value) return;
    event.preventDefault();
    dropCheck();
  };
  useFieldKeys(field, [
    ...(check.value || isOffline.value ? [] : [["↵", "send"] satisfies ValidKey]),
    ["⇧↵", "new line"],
    ["Esc", check.value ? "cancel" : "leave"],
  ]);
  return (
    <>
      <div class="compose">
        <textarea
          ref={field}
          rows={1}
          tabIndex={tab}
          aria-label="Next prompt"
          placeholder={placeholder}
          value={text.value}
          disabled={busy.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
            dropCheck();
          }}
          onKeyDown={onKeyDown}
        />
        <button
          type="button"
          class="send"
          tabIndex={tab}
          aria-label="Send prompt"
          disabled={!text.value.trim() || busy.value || check.value !== null || isOffline.value}
          onClick={() => void send()}
        >
          <Icon name="send" small />
        </button>
      </div>
      {isOffline.value && text.value.trim() !== "" && (
        <p class="kept-note">
          <Icon name="lock" small />
          Your text is kept. It was not sent.
        </p>
      )}
      {check.value && <Question check={check.value} onChoice={(how) => void send(how)} onLeave={dropCheck} />}
    </>
  );
}

/** Sends the prompt of a session. If the daemon has a question first, `check` is that question. */
function usePromptSending(id: string) {
  const text = draftOf(id);
  const busy = useSignal(false);
  const check = useSignal<PromptCheck | null>(null);
  /** Choices made so far: a prompt can be a command and also meet a draft. */
  const said = useSignal<How>({});
  const dropCheck = () => {
    check.value = null;
    said.value = {};
  };
  const send = async (how: How = {}) => {
    if (!text.value.trim() || busy.value || isOffline.peek()) return;
    busy.value = true;
    said.value = { ...said.value, ...how };
    const outcome = await sendPrompt(id, text.value, said.value);
    if (outcome === "sent") text.value = "";
    if (typeof outcome === "string") dropCheck();
    else check.value = outcome;
    busy.value = false;
  };
  return { text, busy, check, send, dropCheck };
}

function Question({
  check: { question, draft, choices },
  onChoice,
  onLeave,
}: {
  check: PromptCheck;
  onChoice: (how: How) => void;
  onLeave: () => void;
}) {
  return (
    <div class="prompt-check" role="alert">
      <p>{question}</p>
      {draft !== null && <pre>{draft}</pre>}
      <div class="prompt-check-choices">
        {choices.map(({ label, how }) => (
          <Button key={label} onClick={() => onChoice(how)}>
            {label}
          </Button>
        ))}
        <Button kind="ghost" onClick={onLeave}>
          Cancel
        </Button>
      </div>
    </div>
  );
}
