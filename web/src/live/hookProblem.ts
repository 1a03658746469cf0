/** Describes a problem with the hooks. The command to fix it comes from the daemon. */
import type { HookStatus } from "../generated/HookStatus";

/**
 * `wanted: false` means that this daemon runs without hooks (the demo, `--no-hooks`), which is not a problem.
 */
export type HookProblem = {
  kind: "missing" | "drifted" | "broken";
  short: string;
  text: string;
  fix: string | null;
};

export function hookProblem(status: HookStatus | null): HookProblem | null {
  if (!status?.wanted) return null;
  const { fix } = status;
  if (status.problem) return { kind: "broken", short: "Not working", text: `${status.problem}.`, fix };
  if (status.drift)
    return {
      kind: "drifted",
      short: "Changed by another tool",
      text: `Another tool changed your Claude Code settings: ${lacking(status)}, so cards may be late or wrong.`,
      fix,
    };
  if (status.registered.length === 0 && status.missing.length > 0)
    return {
      kind: "missing",
      short: "Not registered",
      text: "Claude Code does not report here yet, so cards may be late or wrong.",
      fix,
    };
  if (status.missing.length + status.stale.length > 0)
    return {
      kind: "missing",
      short: "Not complete",
      text: `In your Claude Code settings ${lacking(status)}, so cards may be late or wrong.`,
      fix,
    };
  return null;
}

const NAMES_MAX = 3;

function lacking({ registered, missing, stale }: HookStatus): string {
  if (registered.length + stale.length === 0) return "the hooks are gone";
  const names = [...missing, ...stale];
  const some =
    names.slice(0, NAMES_MAX).join(", ") +
    (names.length > NAMES_MAX ? ` and ${names.length - NAMES_MAX} more` : "");
  return `${names.length === 1 ? "one hook is" : `${names.length} hooks are`} missing or out of date (${some})`;
}
