//! With cards on the board and hooks gone, the board would lie by silence. So it says so, with the fix.
import { copy } from "../card/actions";
import { drifted, hookStatus } from "../live/hooks";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";

export function DriftBanner() {
  if (!drifted(hookStatus.value)) return null;
  return (
    <div class="banner" role="alert">
      <Icon name="triangle" />
      <span><b>Hooks are missing.</b> Another tool changed your Claude Code settings, so cards may be late. Put them back with</span>
      <code>flightdeck hooks repair</code>
      <Button kind="ghost" square onClick={() => void copy("flightdeck hooks repair")} label="Copy the command"><Icon name="copy" small /></Button>
    </div>
  );
}
