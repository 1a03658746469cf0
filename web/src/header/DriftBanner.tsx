//! With cards on the board and hooks gone, the board would lie by silence. So it says so, with the daemon's own fix.
import { copy } from "../card/actions";
import { hookStatus } from "../live/hooks";
import { hookTrouble } from "../live/trouble";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";

export function DriftBanner() {
  const trouble = hookTrouble(hookStatus.value);
  if (!trouble) return null;
  const { kind, text, fix } = trouble;
  return (
    <div class="banner" role="alert" data-trouble={kind}>
      <Icon name="triangle" />
      <span><b>{kind === "missing" ? "Hooks are not in place." : kind === "drifted" ? "Hooks were changed." : "Hooks do not work."}</b> {text}{fix && " Put it right with"}</span>
      {fix && <><code>{fix}</code><Button kind="ghost" square onClick={() => void copy(fix)} label="Copy the command"><Icon name="copy" small /></Button></>}
    </div>
  );
}
