/** What the buttons and the keys of a permission request do. */
import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Ask } from "../generated/Ask";
import { type AskKey, type AskKeys, key, refused } from "../keys/askKeys";
import { askFocus, isCurrentAsk } from "../keys/currentAsk";
import { openSession } from "../lib/route";
import { can } from "../live/capabilities";
import { useConfirm } from "../ui/useConfirm";
import type { AskProps } from "./AskView";
import { denyAsk, writingOf } from "./Deny";
import { giveAnswer } from "./giveAnswer";
import { closeRulePanel, openRulePanel } from "./RulePanel";
import type { Suggestion } from "./suggestion";

export type PermissionAnswers = ReturnType<typeof usePermissionAnswers>;

export function usePermissionAnswers(ask: Ask, full: boolean) {
  const allow = (event: UIEvent) => giveAnswer(ask, { decision: "allow" }, "Allowed", event);
  const confirm = useConfirm(allow);
  // The next press must neither run a call of a request that was left nor write a rule for it.
  useWhenLeft(ask, full, () => {
    confirm.disarm();
    if (full) closeRulePanel(ask.id);
  });
  const writing = writingOf(ask.id);
  return {
    /** The second press that a risky call needs. */
    confirm,
    /** Whether the person writes a message for the denial. */
    writing,
    allow,
    allowOrConfirm: (event: UIEvent) => void (ask.caution ? confirm.press(event) : allow(event)),
    allowAlways: (suggestion: Suggestion, event: UIEvent) =>
      giveAnswer(ask, { decision: "allow", updated_permissions: [suggestion] }, "Always allowed", event),
    deny: (event: UIEvent) => denyAsk(ask, event),
    write: () => {
      writing.value = true;
    },
    makeRule: () => {
      // Another request that arrives now does not become the current one.
      askFocus.value = ask.id;
      openRulePanel(ask.id);
      if (!full) openSession(ask.session_id);
    },
  };
}

/** Calls `act` when the person has moved on to another request, and when this one is no longer shown here. */
function useWhenLeft(ask: Ask, full: boolean, act: () => void): void {
  const wasCurrent = useRef(false);
  useSignalEffect(() => {
    const current = isCurrentAsk(ask, full);
    if (wasCurrent.current && !current) act();
    wasCurrent.current = current;
  });
  useEffect(() => act, []);
}

/** `isWhole`: the person sees the whole input. `first`: the suggestion that the key "always" remembers. */
export function permissionKeys(
  { ask, full }: AskProps,
  isWhole: boolean,
  first: Suggestion | undefined,
  answers: PermissionAnswers,
): AskKeys {
  const { confirm, allowAlways } = answers;
  return {
    y: isWhole
      ? allowKey(ask, answers)
      : refused(full ? "not all of it can be shown" : "read all of it first: Enter opens it"),
    d: key("deny", answers.deny),
    D: key("deny with message", answers.write),
    ...(can("rules") && { w: key("make a rule", answers.makeRule) }),
    a: first
      ? key("always", (event) => allowAlways(first, event))
      : refused(
          ask.caution ? "what cannot be undone is allowed one by one" : "nothing was suggested to remember",
        ),
    ...(confirm.armed && { Escape: key("cancel", confirm.disarm) }),
  };
}

function allowKey({ caution }: Ask, { confirm, allow }: PermissionAnswers): AskKey {
  if (!caution) return key("allow", allow);
  return {
    label: confirm.armed ? `confirm: ${caution.toLowerCase()}` : "allow…",
    act: (event) => (confirm.press(event) ? null : "read what it does first"),
  };
}
