import type { ComponentChildren } from "preact";
import { goToTerminal } from "../card/actions";
import { openSession } from "../lib/route";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import type { AskProps } from "./AskView";

/**
 * Shows the approving buttons (`children`) only if the whole request is visible. Otherwise it shows how to
 * see the rest or where to answer.
 */
export function ApprovalGate({
  ask,
  full,
  missing,
  fits,
  children,
}: AskProps & { fits: boolean; children: ComponentChildren }) {
  if (missing === null && (full || fits)) return <>{children}</>;
  if (!full)
    return (
      <Button kind="primary" class="grow" onClick={() => openSession(ask.session_id)}>
        Review…
      </Button>
    );
  switch (missing?.kind) {
    case "reading":
      return <span class="dim">Loading the rest of it</span>;
    case "unread":
      return (
        <>
          <Button onClick={missing.again}>Try again</Button>
          <span class="ask-error clip" role="alert" title={missing.why}>
            The rest of it could not be loaded: {missing.why}
          </span>
        </>
      );
    default:
      return (
        <>
          <Button kind="primary" onClick={() => void goToTerminal(ask.session_id)}>
            <Icon name="jump" small />
            Answer in terminal
          </Button>
          <span
            class="chip fail"
            title="It is larger than the log keeps, so it can only be allowed in the terminal"
          >
            <Icon name="triangle" small />
            <span class="clip">Too large to show completely</span>
          </span>
        </>
      );
  }
}
