/** Makes a rule of an ask: which one, what it would have answered so far, and writing it. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Ask } from "../generated/Ask";
import type { RuleDraft } from "../generated/RuleDraft";
import type { RuleSuggestions } from "../generated/RuleSuggestions";
import { keyedState } from "../lib/drafts";
import { errorText } from "../lib/errorText";
import { Button, Segmented } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { showToast } from "../ui/toast";
import { getRules, postPreview, postRule, previewText } from "./rules";

/** Whether the panel of an ask is open. A card opens it in the drawer. */
export const rulePanelOf = keyedState(false);

const DECISIONS = [
  { value: "allow" as const, label: "Allow" },
  { value: "deny" as const, label: "Deny" },
];

export function RulePanel({ ask }: { ask: Ask }) {
  const { found, error } = useSuggestedRules(ask.id);
  const chosen = useSignal(0);
  const decision = useSignal<RuleDraft["decision"]>("allow");
  const suggested = found.value?.rules[chosen.value];
  const rule = suggested && { ...suggested.rule, decision: decision.value };
  const preview = useRulePreview(rule, [found.value, chosen.value, decision.value]);
  const close = () => {
    rulePanelOf(ask.id).value = false;
  };
  const write = () => {
    if (!rule) return;
    postRule(rule, true).then(
      ({ rule: name, added }) => {
        showToast(added ? `Rule written: ${name}` : `There is such a rule already: ${name}`);
        close();
      },
      (cause: unknown) => {
        error.value = errorText(cause);
      },
    );
  };
  return (
    <section class="rule-panel" aria-label="Make this a rule">
      <h4>
        <Icon name="rule" small /> Make this a rule
      </h4>
      {error.value && (
        <p class="ask-error" role="alert">
          {error.value}
        </p>
      )}
      {found.value?.rules.length === 0 && <p>Only a person answers this, so no rule can be made of it.</p>}
      {found.value && found.value.rules.length > 0 && (
        <RuleChoices ask={ask} found={found.value} chosen={chosen} decision={decision} preview={preview} />
      )}
      <div class="answer">
        {rule && (
          <Button kind="primary" onClick={write}>
            {found.value?.enabled ? "Write the rule" : "Write the rule, turn the policy on"}
          </Button>
        )}
        <Button onClick={close}>Cancel</Button>
      </div>
    </section>
  );
}

/** Loads the rules that the daemon suggests for an ask. */
function useSuggestedRules(askId: string) {
  const found = useSignal<RuleSuggestions | null>(null);
  const error = useSignal<string | null>(null);
  useEffect(() => {
    getRules(askId).then(
      (rules) => {
        found.value = rules;
      },
      (cause: unknown) => {
        error.value = errorText(cause);
      },
    );
  }, [askId]);
  return { found, error };
}

/** What the rule would have answered so far, in one line. Loaded again when one of `choices` changes. */
function useRulePreview(rule: RuleDraft | undefined, choices: unknown[]): Signal<string> {
  const preview = useSignal("");
  useEffect(() => {
    if (!rule) return;
    let gone = false;
    preview.value = "Trying it on past requests…";
    postPreview(rule).then(
      (report) => {
        if (!gone) preview.value = previewText(report);
      },
      (cause: unknown) => {
        if (!gone) preview.value = errorText(cause);
      },
    );
    return () => {
      gone = true;
    };
  }, choices);
  return preview;
}

type RuleChoicesProps = {
  ask: Ask;
  found: RuleSuggestions;
  chosen: Signal<number>;
  decision: Signal<RuleDraft["decision"]>;
  preview: Signal<string>;
};

/** What the rule answers, and which requests it answers. */
function RuleChoices({ ask, found, chosen, decision, preview }: RuleChoicesProps) {
  return (
    <>
      <Segmented
        name="What the rule answers"
        value={decision.value}
        choices={DECISIONS}
        onChange={(value) => {
          decision.value = value;
        }}
      />
      <div role="radiogroup" aria-label="Which requests">
        {found.rules.map(({ name, would_answer }, i) => (
          <label key={name} class="rule-choice">
            <input
              type="radio"
              name={`rule-${ask.id}`}
              checked={chosen.value === i}
              onChange={() => {
                chosen.value = i;
              }}
            />
            <code>{name}</code>
            {!would_answer && <span class="dim">a person answers this one in any case</span>}
          </label>
        ))}
      </div>
      <p class="rule-preview" role="status">
        {preview.value}
      </p>
      {!found.enabled && <p class="dim">The policy is off. Writing the rule also turns the policy on.</p>}
    </>
  );
}
