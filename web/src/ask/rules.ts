/** Rules of the policy that a person may make of an ask: suggested, tried on the past, and written by the daemon. */
import type { PolicyReport } from "../generated/PolicyReport";
import type { RuleDraft } from "../generated/RuleDraft";
import { request } from "../live/api";

export const getRules = (id: string) => request("GET /api/asks/{id}/rules", { path: { id } });
export const postPreview = (rule: RuleDraft) => request("POST /api/policy/preview", { body: { rule } });
export const postRule = (rule: RuleDraft, enable: boolean) =>
  request("POST /api/policy/rules", { body: { rule, enable } });

/** What the rule would have answered, in one line. */
export function previewText({ asks, answered, by_rule }: PolicyReport): string {
  if (asks === 0) return "No request was made so far, so there is nothing to try it on.";
  if (answered === 0) return `Of ${asks} past requests it would have answered none.`;
  const examples = by_rule.flatMap((row) => row.examples).slice(0, EXAMPLES_MAX);
  const such = examples.length > 0 ? `, such as ${examples.join(" · ")}` : "";
  return `Of ${asks} past requests it would have answered ${answered}${such}.`;
}

const EXAMPLES_MAX = 3;
