/** Rules of the policy that a person may make of an ask: suggested, tried on the past, and written by the daemon. */
import type { Decision } from "../generated/Decision";
import { request } from "../live/api";

/** A rule as it is written into config.toml. */
export type RuleDraft = {
  tool: string;
  match: string | null;
  project: string | null;
  decision: "allow" | "deny";
  message: string | null;
};

export type SuggestedRule = { rule: RuleDraft; name: string; would_answer: boolean };
export type RuleSuggestions = { enabled: boolean; rules: SuggestedRule[] };
export type RuleAdded = { rule: string; added: boolean; enabled: boolean; rules: number; path: string };

type PolicyRow = { name: string; decision: Decision | null; count: number; examples: string[] };
export type PolicyReport = {
  enabled: boolean;
  asks: number;
  answered: number;
  allowed: number;
  denied: number;
  by_rule: PolicyRow[];
  left: PolicyRow[];
};

export const getRules = (askId: string) =>
  request<RuleSuggestions>("GET", `/api/asks/${encodeURIComponent(askId)}/rules`);
export const postPreview = (rule: RuleDraft) =>
  request<PolicyReport>("POST", "/api/policy/preview", { rule });
export const postRule = (rule: RuleDraft, enable: boolean) =>
  request<RuleAdded>("POST", "/api/policy/rules", { rule, enable });

/** What the rule would have answered, in one line. */
export function previewText({ asks, answered, by_rule }: PolicyReport): string {
  if (asks === 0) return "No request was made so far, so there is nothing to try it on.";
  if (answered === 0) return `Of ${asks} past requests it would have answered none.`;
  const examples = by_rule.flatMap((row) => row.examples).slice(0, EXAMPLES_MAX);
  const such = examples.length > 0 ? `, such as ${examples.join(" · ")}` : "";
  return `Of ${asks} past requests it would have answered ${answered}${such}.`;
}

const EXAMPLES_MAX = 3;
