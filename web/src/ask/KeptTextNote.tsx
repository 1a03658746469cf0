import { copy } from "../card/actions";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { keptTextOf } from "./keptText";

/** What the person wrote for an ask that ended before it was sent, and how it ended. */
export function KeptTextNote({ sessionId }: { sessionId: string }) {
  const kept = keptTextOf(sessionId);
  if (!kept.value) return null;
  const { text, why } = kept.value;
  return (
    <div class="kept-text" role="status">
      <p class="kept-note">
        <Icon name="lock" small />
        {why}. What you wrote was not sent:
      </p>
      <p class="kept-words">{text}</p>
      <div class="answer">
        <Button onClick={() => void copy(text)}>Copy it</Button>
        <Button
          kind="ghost"
          onClick={() => {
            kept.value = null;
          }}
        >
          Dismiss
        </Button>
      </div>
    </div>
  );
}
