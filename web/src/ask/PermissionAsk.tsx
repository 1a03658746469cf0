/**
 * Allow, allow and remember, or deny. A risky call needs a second press; an input too large for the card is
 * reviewed in the drawer first.
 */
import { useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { type AskKeys, key, refused, useAskKeys } from "../keys/askKeys";
import { isCurrentAsk } from "../keys/currentAsk";
import { openSession } from "../lib/route";
import { can } from "../live/capabilities";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Menu, MenuItem } from "../ui/Menu";
import { TimeLeft } from "../ui/Meters";
import { useConfirm } from "../ui/useConfirm";
import { ApprovalGate } from "./ApprovalGate";
import type { AskProps } from "./AskView";
import { DenyMessage, DenyMore, denyAndStop, denyAsk, WRITING, writingOf } from "./Deny";
import { giveAnswer } from "./giveAnswer";
import { RulePanel, rulePanelOf } from "./RulePanel";
import { type Suggestion, suggestionText } from "./suggestion";
import { ToolInputView } from "./ToolInputView";
import { fitsCard, toolInput } from "./toolInput";

export function PermissionAsk(props: AskProps) {
  const { ask, full, missing } = props;
  const input = toolInput(ask);
  const fits = fitsCard(input);
  const all = missing === null && (full || fits);
  const warning = ask.caution;
  const allow = (event: UIEvent) => giveAnswer(ask, { decision: "allow" }, "Allowed", event);
  const confirm = useConfirm(allow);
  // If the person has moved on to another request, a second press must not run this one.
  const wasCurrent = useRef(false);
  useSignalEffect(() => {
    const current = isCurrentAsk(ask, full);
    if (wasCurrent.current && !current) confirm.disarm();
    wasCurrent.current = current;
  });
  const writing = writingOf(ask.id);
  const deny = (event: UIEvent) => denyAsk(ask, event);
  const always = (suggestion: Suggestion, event: UIEvent) =>
    giveAnswer(ask, { decision: "allow", updated_permissions: [suggestion] }, "Always allowed", event);
  const yes = (event: UIEvent) => void (warning ? confirm.press(event) : allow(event));
  const write = () => {
    writing.value = true;
  };
  const makeRule = () => {
    rulePanelOf(ask.id).value = true;
    if (!full) openSession(ask.session_id);
  };
  const first = all && !warning ? ask.suggestions[0] : undefined;
  const keys: AskKeys = {
    y: !all
      ? refused(full ? "not all of it can be shown" : "read all of it first: Enter opens it")
      : warning
        ? {
            label: confirm.armed ? `confirm: ${warning.toLowerCase()}` : "allow…",
            act: (event) => (confirm.press(event) ? null : "read what it does first"),
          }
        : key("allow", allow),
    d: key("deny", deny),
    D: key("deny with message", write),
    ...(can("rules") && { w: key("make a rule", makeRule) }),
    a: first
      ? key("always", (event) => always(first, event))
      : refused(
          warning ? "what cannot be undone is allowed one by one" : "nothing was suggested to remember",
        ),
    ...(confirm.armed && { Escape: key("cancel", confirm.disarm) }),
  };
  useAskKeys(ask.id, full, writing.value ? WRITING : keys);
  if (writing.value)
    return (
      <>
        <ToolInputView input={input} full={full} clipped={!full && !all} />
        <DenyMessage ask={ask} />
      </>
    );
  return (
    <>
      <ToolInputView input={input} full={full} clipped={!full && !all} />
      {warning && all && <Caution text={warning} />}
      <div class="answer">
        <ApprovalGate {...props} fits={fits}>
          {/* Both presses use the same button: a new button would not have the focus. */}
          <Button
            kind={confirm.armed ? "danger" : "primary"}
            onClick={yes}
            waiting={confirm.waiting}
            class="grow"
            keys="y"
          >
            {confirm.armed ? `Confirm: ${warning?.toLowerCase()}` : warning ? "Allow…" : "Allow"} <kbd>y</kbd>
          </Button>
        </ApprovalGate>
        {confirm.armed && (
          <Button onClick={confirm.disarm} keys="Escape">
            Cancel <kbd>Esc</kbd>
          </Button>
        )}
        {!confirm.armed && first && <Always suggestions={ask.suggestions} full={full} take={always} />}
        {!confirm.armed && (
          <Button onClick={deny} keys="d">
            Deny <kbd>d</kbd>
          </Button>
        )}
        {!confirm.armed && (
          <DenyMore
            full={full}
            onMessage={write}
            onRule={can("rules") ? makeRule : null}
            onStop={(event) => denyAndStop(ask, event)}
          />
        )}
        {ask.expires_at && <TimeLeft opened={ask.opened_at} until={ask.expires_at} />}
      </div>
      {full && rulePanelOf(ask.id).value && <RulePanel ask={ask} />}
    </>
  );
}

/** The whole reason why a second press is needed. The person reads it before pressing the button below it. */
const Caution = ({ text }: { text: string }) => (
  <p class="caution">
    <Icon name="triangle" small />
    <span>{text}: asks twice</span>
  </p>
);

type AlwaysProps = {
  suggestions: Suggestion[];
  full: boolean;
  take: (suggestion: Suggestion, event: UIEvent) => void;
};

/** The button remembers the first suggestion, its menu has the others. At phone width one menu lists all. */
function Always({ suggestions, full, take }: AlwaysProps) {
  const first = suggestions[0];
  if (!first) return null;
  const choices = () =>
    suggestions.map((s, i) => (
      <MenuItem key={i} onClick={(event) => take(s, event)}>
        <SuggestionLabel suggestion={s} />
        <Where suggestion={s} />
      </MenuItem>
    ));
  return (
    <>
      <span class="split">
        <Button onClick={(event) => take(first, event)} title={title(first)} keys="a">
          <SuggestionLabel suggestion={first} brief={!full} />
          {full && <Where suggestion={first} />} <kbd>a</kbd>
        </Button>
        {suggestions.length > 1 && (
          <Menu
            label="Choose what to remember"
            button={(open, toggle) => (
              <Button onClick={toggle} expanded={open} label="Choose what to remember">
                <Icon name="down" small />
              </Button>
            )}
          >
            {choices}
          </Menu>
        )}
      </span>
      <Menu
        label="Choose what to remember"
        class="always-phone"
        button={(open, toggle) => (
          <Button onClick={toggle} expanded={open}>
            Always…
          </Button>
        )}
      >
        {choices}
      </Menu>
    </>
  );
}

const title = (suggestion: Suggestion) => {
  const { text, code, where } = suggestionText(suggestion);
  return [text, code, where && `(${where})`].filter(Boolean).join(" ");
};

function SuggestionLabel({ suggestion, brief }: { suggestion: Suggestion; brief?: boolean }) {
  const { text: words, short, code } = suggestionText(suggestion);
  const text = brief ? short : words;
  // Long paths are cut at the start, because the end tells more.
  if (code?.startsWith("/"))
    return (
      <span class="remember">
        {text}{" "}
        <code class="clip path">
          <bdi>{code}</bdi>
        </code>
      </span>
    );
  return (
    <span class="clip">
      {text}
      {code && (
        <>
          {" "}
          <code>{code}</code>
        </>
      )}
    </span>
  );
}

/** Where the rule will be stored. Shown where there is room for it. */
function Where({ suggestion }: { suggestion: Suggestion }) {
  const { where } = suggestionText(suggestion);
  return where && <span class="dim">{where}</span>;
}
