import type { Ask } from "../generated/Ask";
import { key, refused, useAskKeys } from "../keys/askKeys";
import { draftOf, keyedState } from "../lib/drafts";
import { Button } from "../ui/Button";
import { TimeLeft } from "../ui/Meters";
import { ApprovalGate } from "./ApprovalGate";
import type { AskProps } from "./AskView";
import { giveAnswer } from "./giveAnswer";
import { MessageBox } from "./MessageBox";
import { ToolInputView } from "./ToolInputView";
import { fitsCard, toolInput } from "./toolInput";

const rejectingOf = keyedState(false);

export const approvePlan = (ask: Ask, event: UIEvent) =>
  giveAnswer(ask, { decision: "allow", mode: "default" }, "Plan approved", event);

/** Opens the field for what should change. */
export function writeRejection(ask: Ask): void {
  rejectingOf(ask.id).value = true;
}

/** A plan: approve it and choose how edits are approved, or reject it with a message. */
export function PlanAsk(props: AskProps) {
  const { ask, full, missing } = props;
  const input = toolInput(ask);
  const fits = missing === null && fitsCard(input);
  const rejecting = rejectingOf(ask.id);
  const approve = (event: UIEvent) => approvePlan(ask, event);
  const approveEdits = (event: UIEvent) =>
    giveAnswer(ask, { decision: "allow", mode: "acceptEdits" }, "Plan approved, edits accepted", event);
  const reject = () => writeRejection(ask);
  const approvable = missing === null && (full || fits);
  const unread = refused(full ? "not all of it can be shown" : "read all of it first: Enter opens it");
  const writing = refused("a message is being written: send or cancel it first");
  useAskKeys(
    ask.id,
    full,
    rejecting.value
      ? { y: writing, a: writing, d: writing }
      : {
          y: approvable ? key("approve", approve) : unread,
          a: approvable ? key("approve, accept edits", approveEdits) : unread,
          d: key("reject…", reject),
        },
  );
  if (rejecting.value)
    return (
      <>
        <ToolInputView input={input} full={full} clipped={!full && !fits} />
        <MessageBox
          draft={draftOf(ask.id)}
          label="What should change"
          send="Reject"
          onSend={(message, event) => giveAnswer(ask, { decision: "deny", message }, "Plan rejected", event)}
          onCancel={() => {
            rejecting.value = false;
          }}
        />
      </>
    );
  return (
    <>
      <ToolInputView input={input} full={full} clipped={!full && !fits} />
      <div class="answer">
        <ApprovalGate {...props} fits={fits}>
          <Button kind="primary" class="grow" onClick={approve} keys="y">
            Approve <kbd>y</kbd>
          </Button>
          <Button onClick={approveEdits} keys="a">
            Approve, accept edits <kbd>a</kbd>
          </Button>
        </ApprovalGate>
        <Button onClick={reject} keys="d">
          Reject… <kbd>d</kbd>
        </Button>
        {ask.expires_at && <TimeLeft opened={ask.opened_at} until={ask.expires_at} />}
      </div>
    </>
  );
}
