import { useSignal } from "@preact/signals";
import { useContext } from "preact/hooks";
import { draftOf } from "../lib/kept";
import type { How } from "../live/api";
import { Button, TabStop } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { sendPrompt } from "./actions";
import type { Doubt } from "./doubt";

/** The next prompt, typed into the session's own terminal by the daemon. */
export function Composer({ id, placeholder }: { id: string; placeholder: string }) {
  const text = draftOf(id);
  const busy = useSignal(false);
  const doubt = useSignal<Doubt | null>(null);
  /** What was answered so far: a command may meet a draft too. */
  const said = useSignal<How>({});
  const tab = useContext(TabStop);
  const leave = () => {
    doubt.value = null;
    said.value = {};
  };
  const send = async (how: How = {}) => {
    if (!text.value.trim() || busy.value) return;
    busy.value = true;
    said.value = { ...said.value, ...how };
    const outcome = await sendPrompt(id, text.value, said.value);
    if (outcome === "sent") text.value = "";
    if (typeof outcome === "string") leave();
    else doubt.value = outcome;
    busy.value = false;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      if (!doubt.value) void send();
    }
    if (event.key !== "Escape") return;
    if (doubt.value) leave();
    else (event.currentTarget as HTMLElement).closest<HTMLElement>("[data-card]")?.focus();
  };
  return (
    <>
      <div class="compose">
        <textarea
          rows={1} tabIndex={tab} aria-label="Next prompt" placeholder={placeholder} value={text.value} disabled={busy.value}
          onInput={(event) => { text.value = event.currentTarget.value; leave(); }} onKeyDown={onKeyDown}
        />
        <button type="button" class="send" tabIndex={tab} aria-label="Send prompt" disabled={!text.value.trim() || busy.value || doubt.value !== null} onClick={() => void send()}>
          <Icon name="send" small />
        </button>
      </div>
      {doubt.value && <Question doubt={doubt.value} onChoice={(how) => void send(how)} onLeave={leave} />}
    </>
  );
}

function Question({ doubt: { question, draft, choices }, onChoice, onLeave }: { doubt: Doubt; onChoice: (how: How) => void; onLeave: () => void }) {
  return (
    <div class="doubt" role="alert">
      <p>{question}</p>
      {draft !== null && <pre>{draft}</pre>}
      <div class="doubt-choices">
        {choices.map(({ label, how }) => <Button key={label} onClick={() => onChoice(how)}>{label}</Button>)}
        <Button kind="ghost" onClick={onLeave}>Cancel</Button>
      </div>
    </div>
  );
}
