/** What the guard rules of an effort would have done in recorded history. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Effort } from "../generated/Effort";
import type { GuardReport } from "../generated/GuardReport";
import type { GuardRule } from "../generated/GuardRule";
import { getGuardHistory } from "../live/api";

/** Null until it is read, and if it cannot be read. It is read again when a rule changes. */
export function useGuardHistory({ id, guards }: Effort): GuardReport | null {
  const report = useSignal<GuardReport | null>(null);
  const rules = JSON.stringify(guards);
  useEffect(() => {
    let isWanted = rules !== "[]";
    report.value = null;
    const read = async () => {
      const found = await getGuardHistory(id).catch(() => null);
      if (isWanted) report.value = found;
    };
    if (isWanted) void read();
    return () => {
      isWanted = false;
    };
  }, [id, rules]);
  return report.value;
}

/** How many recorded calls the rule would have decided; a rule that only tells the agent something decides none. */
export function timesIn(report: GuardReport | null, { id, then }: GuardRule): number | null {
  const row = report?.rules.find(({ rule }) => rule === id);
  if (!row) return null;
  return then === "deny" || then === "allow" ? row.decided : row.matched;
}
