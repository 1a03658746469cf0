import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { copy, resumeCommand } from "../card/actions";
import type { Session } from "../generated/Session";
import { can } from "../live/capabilities";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";

/** Shown instead of the prompt field when no prompt can be sent from here. */
export function PromptUnavailable({ session }: { session: Session }) {
  const { pane, tmux_socket: server, name } = session.seat;
  const ended = session.agent_state.group === "done";
  const reached = !ended && pane !== null && server !== null;
  if (reached)
    return (
      <p>
        Prompts are typed in its terminal, <b>{[name, pane].filter(Boolean).join(" ")}</b>, when it waits for
        one.
      </p>
    );
  return (
    <div class="resume">
      <p>
        {ended ? (
          "This session has ended."
        ) : (
          <>
            Prompts are typed in its terminal
            {name && (
              <>
                , <b>{name}</b>
              </>
            )}
            ; Flightdeck knows no tmux pane for it.
          </>
        )}
      </p>
      {can("interrupt") && (
        <Resume
          key={String(ended)}
          id={session.id}
          label={ended ? "Copy resume command" : "Closed it? Copy resume command"}
        />
      )}
    </div>
  );
}

/** The command contains the session's start folder, which only the daemon knows. */
function Resume({ id, label }: { id: string; label: string }) {
  const command = useSignal<string | null>(null);
  useEffect(() => {
    command.value = null;
  }, [id]);
  const show = async () => {
    command.value ??= await resumeCommand(id);
    if (command.value !== null) await copy(command.value);
  };
  return (
    <>
      <Button onClick={() => void show()}>
        <Icon name="copy" small />
        {label}
      </Button>
      {command.value !== null && <code class="well cmd">{command.value}</code>}
    </>
  );
}
