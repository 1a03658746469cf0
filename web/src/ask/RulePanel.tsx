/** Makes a rule of an ask: which one, what it would have answered so far, and writing it. */
import { type Signal, signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Ask } from "../generated/Ask";
import type { RuleDraft } from "../generated/RuleDraft";
import type { RuleSuggestions } from "../generated/RuleSuggestions";
import { type AskKey, type AskKeys, key, refused } from "../keys/askKeys";
import { errorText } from "../lib/errorText";
import { Button, Segmented } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { capitalize, showError, showToast } from "../ui/toast";
import { getRules, postPreview, postRule, previewText } from "./rules";

/** The ask whose panel is open. A card opens it in the drawer. */
const openPanel = signal<string | null>(null);
export const isRulePanelOpen = (askId: string): boolean => openPanel.value === askId;
export const openRulePanel = (askId: string): void => {
  openPanel.value = askId;
};
/** Does nothing if another ask has opened its panel since. */
export const closeRulePanel = (askId: string): void => {
  if (openPanel.peek() === askId) openPanel.value = null;
};

const DECISIONS = [
  { value: "allow" as const, label: "Allow" },
  { value: "deny" as const, label: "Deny" },
];

/** A rule that is being made: what can be chosen, and the keys that write or cancel it. */
export type RuleMaker = {
  found: Signal<RuleSuggestions | null>;
  error: Signal<string | null>;
  chosen: Signal<number>;
  decision: Signal<RuleDraft["decision"]>;
  preview: Signal<string>;
  /** Null while nothing can be written. */
  write: (() => void) | null;
  close: () => void;
  keys: AskKeys;
};

/** `isOpen`: whether the panel is shown. Each time it opens, the choices are those of the beginning. */
export function useRuleMaker(ask: Ask, isOpen: boolean): RuleMaker {
  const { found, error } = useSuggestedRules(ask.id, isOpen);
  const chosen = useSignal(0);
  const decision = useSignal<RuleDraft["decision"]>("allow");
  useEffect(() => {
    chosen.value = 0;
    decision.value = "allow";
  }, [ask.id, isOpen]);
  const suggested = found.value?.rules[chosen.value];
  const rule = suggested && { ...suggested.rule, decision: decision.value };
  const preview = useRulePreview(rule, [found.value, chosen.value, decision.value]);
  const close = () => closeRulePanel(ask.id);
  const write = rule
    ? () =>
        void postRule(rule, true).then(
          ({ rule: name, added }) => {
            showToast(added ? `Rule written: ${name}` : `There is such a rule already: ${name}`);
            close();
          },
          (cause: unknown) => {
            if (isRulePanelOpen(ask.id)) error.value = errorText(cause);
            else showError(cause);
          },
        )
    : null;
  return {
    found,
    error,
    chosen,
    decision,
    preview,
    write,
    close,
    keys: ruleKeys(found.value, chosen, write, close),
  };
}

/** What `y` and its button do. */
const writeLabel = (found: RuleSuggestions | null): string =>
  found?.enabled ? "write the rule" : "write the rule, turn the policy on";

const BUSY = refused("a rule is being made: write or cancel it first");

/** No key answers the request while the panel is open: the press would be meant for the rule. */
function ruleKeys(
  found: RuleSuggestions | null,
  chosen: Signal<number>,
  write: (() => void) | null,
  close: () => void,
): AskKeys {
  const choices = (found?.rules ?? []).map(({ name }, i): [string, AskKey] => [
    String(i + 1),
    key(name, () => {
      chosen.value = i;
    }),
  ]);
  return {
    ...(choices.length > 1 && Object.fromEntries(choices.slice(0, 9))),
    y: write ? key(writeLabel(found), write) : refused("there is no rule to write yet"),
    Escape: key("cancel", close),
    d: BUSY,
    D: BUSY,
    a: BUSY,
    w: BUSY,
  };
}

export function RulePanel({ ask, maker }: { ask: Ask; maker: RuleMaker }) {
  const { found, error } = maker;
  const panel = useRef<HTMLElement>(null);
  const focusAtOpening = useRef<Element | null>(null);
  useEffect(() => {
    focusAtOpening.current = document.activeElement;
  }, []);
  // Tab and the arrow keys go on from the choices, unless the person moved the focus while they loaded.
  useEffect(() => {
    if (!found.value || !panel.current || hasFocusMoved(panel.current, focusAtOpening.current)) return;
    panel.current.querySelector<HTMLElement>("input:checked, .answer .btn")?.focus();
  }, [found.value]);
  return (
    <section class="rule-panel" aria-label="Make this a rule" ref={panel}>
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
        <RuleChoices ask={ask} found={found.value} maker={maker} />
      )}
      <div class="answer">
        {maker.write && (
          <Button kind="primary" onClick={maker.write} keys="y">
            {capitalize(writeLabel(found.value))} <kbd>y</kbd>
          </Button>
        )}
        <Button onClick={maker.close} keys="Escape">
          Cancel <kbd>Esc</kbd>
        </Button>
      </div>
    </section>
  );
}

/** Whether the focus went out of the request since the panel opened. */
function hasFocusMoved(panel: Element, before: Element | null): boolean {
  const now = document.activeElement;
  return now !== document.body && now !== before && !panel.closest("[data-ask]")?.contains(now);
}

/** Loads the rules that the daemon suggests for an ask while the panel is open. */
function useSuggestedRules(askId: string, isOpen: boolean) {
  const found = useSignal<RuleSuggestions | null>(null);
  const error = useSignal<string | null>(null);
  useEffect(() => {
    found.value = null;
    error.value = null;
    if (!isOpen) return;
    let gone = false;
    getRules(askId).then(
      (rules) => {
        if (!gone) found.value = rules;
      },
      (cause: unknown) => {
        if (!gone) error.value = errorText(cause);
      },
    );
    return () => {
      gone = true;
    };
  }, [askId, isOpen]);
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

type RuleChoicesProps = { ask: Ask; found: RuleSuggestions; maker: RuleMaker };

/** What the rule answers, and which requests it answers. */
function RuleChoices({ ask, found, maker: { chosen, decision, preview } }: RuleChoicesProps) {
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
            {found.rules.length > 1 && i < 9 && <kbd>{i + 1}</kbd>}
            <code>{name}</code>
            {!would_answer && <span class="dim">a person answers this one in any case</span>}
          </label>
        ))}
      </div>
      <p class="rule-preview" role="status">
        {preview.value}
      </p>
      <p class="dim">The rule answers later requests. This request stays open.</p>
      {!found.enabled && <p class="dim">The policy is off. Writing the rule also turns the policy on.</p>}
    </>
  );
}
