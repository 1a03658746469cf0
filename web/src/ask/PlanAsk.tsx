import { useSignal } from "@preact/signals";
import { openSession } from "../lib/route";
import { Button } from "../ui/Button";
import { TimeLeft } from "../ui/Meters";
import { answer } from "./answers";
import type { AskProps } from "./AskView";
import { Input } from "./Input";
import { fitsCard, toolInput } from "./input";
import { MessageBox } from "./MessageBox";

/** A plan: approve and choose how edits are asked for, or send it back with words. */
export function PlanAsk({ ask, whole }: AskProps) {
  const input = toolInput(ask);
  const fits = whole || fitsCard(input);
  const rejecting = useSignal(false);
  if (rejecting.value) return (
    <>
      <Input input={input} clipped={!fits} />
      <MessageBox
        label="What should change" send="Reject"
        onSend={(message) => void answer(ask.id, { decision: "deny", message })}
        onCancel={() => { rejecting.value = false; }}
      />
    </>
  );
  return (
    <>
      <Input input={input} clipped={!fits} />
      <div class="answer">
        {fits ? (
          <>
            <Button kind="primary" class="grow" onClick={() => void answer(ask.id, { decision: "allow", mode: "default" })} keys="y">Approve <kbd>y</kbd></Button>
            <Button onClick={() => void answer(ask.id, { decision: "allow", mode: "acceptEdits" })}>Approve, accept edits</Button>
          </>
        ) : (
          <Button kind="primary" class="grow" onClick={() => openSession(ask.session_id)}>Review…</Button>
        )}
        <Button onClick={() => { rejecting.value = true; }} keys="n">Reject… <kbd>n</kbd></Button>
        {ask.expires_at && <TimeLeft opened={ask.opened_at} until={ask.expires_at} />}
      </div>
    </>
  );
}
