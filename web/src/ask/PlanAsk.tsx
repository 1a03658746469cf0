import { draftOf, kept } from "../lib/kept";
import { Button } from "../ui/Button";
import { TimeLeft } from "../ui/Meters";
import { answer } from "./answers";
import type { AskProps } from "./AskView";
import { BesideAll } from "./BesideAll";
import { Input } from "./Input";
import { fitsCard, toolInput } from "./input";
import { MessageBox } from "./MessageBox";

const rejectingOf = kept(false);

/** A plan: approve and choose how edits are asked for, or send it back with words. */
export function PlanAsk(props: AskProps) {
  const { ask, whole, missing } = props;
  const input = toolInput(ask);
  const fits = missing === null && fitsCard(input);
  const rejecting = rejectingOf(ask.id);
  if (rejecting.value) return (
    <>
      <Input input={input} whole={whole} clipped={!whole && !fits} />
      <MessageBox
        draft={draftOf(ask.id)} label="What should change" send="Reject"
        onSend={(message) => void answer(ask.id, { decision: "deny", message })}
        onCancel={() => { rejecting.value = false; }}
      />
    </>
  );
  return (
    <>
      <Input input={input} whole={whole} clipped={!whole && !fits} />
      <div class="answer">
        <BesideAll {...props} fits={fits}>
          <Button kind="primary" class="grow" onClick={() => void answer(ask.id, { decision: "allow", mode: "default" })} keys="y">Approve <kbd>y</kbd></Button>
          <Button onClick={() => void answer(ask.id, { decision: "allow", mode: "acceptEdits" })}>Approve, accept edits</Button>
        </BesideAll>
        <Button onClick={() => { rejecting.value = true; }} keys="n">Reject… <kbd>n</kbd></Button>
        {ask.expires_at && <TimeLeft opened={ask.opened_at} until={ask.expires_at} />}
      </div>
    </>
  );
}
