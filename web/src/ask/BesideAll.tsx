import type { ComponentChildren } from "preact";
import { goToTerminal } from "../card/actions";
import { openSession } from "../lib/route";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import type { AskProps } from "./AskView";

/** What says yes stands only beside all of the request. Elsewhere stands the way to see the rest of it. */
export function BesideAll({ ask, whole, missing, fits, children }: AskProps & { fits: boolean; children: ComponentChildren }) {
  if (missing === null && (whole || fits)) return <>{children}</>;
  if (!whole) return <Button kind="primary" class="grow" onClick={() => openSession(ask.session_id)}>Review…</Button>;
  switch (missing?.kind) {
    case "reading":
      return <span class="dim">Reading the rest of it</span>;
    case "unread":
      return (
        <>
          <Button onClick={missing.again}>Try again</Button>
          <span class="ask-error clip" role="alert" title={missing.why}>The rest of it could not be read: {missing.why}</span>
        </>
      );
    default:
      return (
        <>
          <Button kind="primary" onClick={() => void goToTerminal(ask.session_id)}><Icon name="jump" small />Answer in terminal</Button>
          <span class="chip fail" title="It is larger than the log keeps: only the terminal can allow it"><Icon name="triangle" small /><span class="clip">Too large to show whole</span></span>
        </>
      );
  }
}
