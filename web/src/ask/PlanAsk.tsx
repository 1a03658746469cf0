import { useAskKeys } from "../keys/askKeys";
import { draftOf, keyedState } from "../lib/drafts";
import { Button } from "../ui/Button";
import { TimeLeft } from "../ui/Meters";
import { ApprovalGate } from "./ApprovalGate";
import type { AskProps } from "./AskView";
import { MessageBox } from "./MessageBox";
import { submitAnswer } from "./submission";
import { ToolInputView } from "./ToolInputView";
import { fitsCard, toolInput } from "./toolInput";

const rejectingOf = keyedState(false);

/** A plan: approve it and choose how edits are approved, or reject it with a message. */
export function PlanAsk(props: AskProps) {
  const { ask, full, missing } = props;
  const input = toolInput(ask);
  const fits = missing === null && fitsCard(input);
  const rejecting = rejectingOf(ask.id);
  const approve = () => void submitAnswer(ask.id, { decision: "allow", mode: "default" });
  const reject = () => {
    rejecting.value = true;
  };
  const approvable = missing === null && (full || fits);
  useAskKeys(ask.id, full, rejecting.value ? {} : { ...(approvable && { y: approve }), n: reject });
  if (rejecting.value)
    return (
      <>
        <ToolInputView input={input} full={full} clipped={!full && !fits} />
        <MessageBox
          draft={draftOf(ask.id)}
          label="What should change"
          send="Reject"
          onSend={(message) => void submitAnswer(ask.id, { decision: "deny", message })}
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
          <Button onClick={() => void submitAnswer(ask.id, { decision: "allow", mode: "acceptEdits" })}>
            Approve, accept edits
          </Button>
        </ApprovalGate>
        <Button onClick={reject} keys="n">
          Reject… <kbd>n</kbd>
        </Button>
        {ask.expires_at && <TimeLeft opened={ask.opened_at} until={ask.expires_at} />}
      </div>
    </>
  );
}
