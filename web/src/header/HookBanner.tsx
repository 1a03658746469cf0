/**
 * A banner over the board when hooks are missing or changed, with the daemon's command to fix them. Without
 * hooks the cards would silently be out of date.
 */
import { copy } from "../card/actions";
import { hookProblem } from "../live/hookProblem";
import { hookStatus } from "../live/hookStatus";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";

export function HookBanner() {
  const problem = hookProblem(hookStatus.value);
  if (!problem) return null;
  const { kind, text, fix } = problem;
  return (
    <div class="banner" role="alert" data-trouble={kind}>
      <Icon name="triangle" />
      <span>
        <b>
          {kind === "missing"
            ? "Hooks are not in place."
            : kind === "drifted"
              ? "Hooks were changed."
              : "Hooks do not work."}
        </b>{" "}
        {text}
        {fix && " Fix it with"}
      </span>
      {fix && (
        <>
          <code>{fix}</code>
          <Button kind="ghost" square onClick={() => void copy(fix)} label="Copy the command">
            <Icon name="copy" small />
          </Button>
        </>
      )}
    </div>
  );
}
