/**
 * Allow, allow and remember, or deny. A risky call needs a second press; an input too large for the card is
 * reviewed in the drawer first.
 */
import { useAskKeys } from "../keys/askKeys";
import { draftOf, keyedState } from "../lib/drafts";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Menu, MenuItem } from "../ui/Menu";
import { TimeLeft } from "../ui/Meters";
import { useConfirm } from "../ui/useConfirm";
import { ApprovalGate } from "./ApprovalGate";
import type { AskProps } from "./AskView";
import { MessageBox } from "./MessageBox";
import { submitAnswer } from "./submission";
import { type Suggestion, suggestionText } from "./suggestion";
import { ToolInputView } from "./ToolInputView";
import { fitsCard, toolInput } from "./toolInput";

const writingOf = keyedState(false);

export function PermissionAsk(props: AskProps) {
  const { ask, full, missing } = props;
  const input = toolInput(ask);
  const fits = fitsCard(input);
  const all = missing === null && (full || fits);
  const warning = ask.caution;
  const allow = () => void submitAnswer(ask.id, { decision: "allow" });
  const confirm = useConfirm(allow);
  const writing = writingOf(ask.id);
  const deny = () => void submitAnswer(ask.id, { decision: "deny" });
  const yes = warning ? confirm.press : allow;
  const no = confirm.armed ? confirm.disarm : deny;
  useAskKeys(ask.id, full, writing.value ? {} : { ...(all && { y: yes }), n: no });
  if (writing.value)
    return (
      <>
        <ToolInputView input={input} full={full} clipped={!full && !all} />
        <DenyMessage askId={ask.id} />
      </>
    );
  return (
    <>
      <ToolInputView input={input} full={full} clipped={!full && !all} />
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
          <Button onClick={no} keys="n">
            Cancel <kbd>n</kbd>
          </Button>
        )}
        {!confirm.armed && all && !warning && (
          <Always askId={ask.id} suggestions={ask.suggestions} full={full} />
        )}
        {!confirm.armed && (
          <Button onClick={no} keys="n">
            Deny <kbd>n</kbd>
          </Button>
        )}
        {warning && all && !confirm.armed && <Caution text={warning} />}
        {!confirm.armed && (
          <DenyMore
            full={full}
            onMessage={() => {
              writing.value = true;
            }}
            onStop={() => void submitAnswer(ask.id, { decision: "deny", interrupt: true })}
          />
        )}
        {ask.expires_at && <TimeLeft opened={ask.opened_at} until={ask.expires_at} />}
      </div>
    </>
  );
}

const DenyMessage = ({ askId }: { askId: string }) => (
  <MessageBox
    draft={draftOf(askId)}
    label="Why not, and what instead"
    send="Deny"
    onSend={(message) => void submitAnswer(askId, { decision: "deny", message })}
    onCancel={() => {
      writingOf(askId).value = false;
    }}
  />
);

const Caution = ({ text }: { text: string }) => (
  <span class="chip fail">
    <Icon name="triangle" small />
    <span class="clip">{text}: asks twice</span>
  </span>
);

/** The drawer shows the two other ways to deny as buttons; a card has them in a menu. */
function DenyMore({ full, onMessage, onStop }: { full: boolean; onMessage: () => void; onStop: () => void }) {
  if (full)
    return (
      <>
        <Button kind="ghost" onClick={onMessage}>
          Deny with message…
        </Button>
        <Button kind="ghost" onClick={onStop}>
          Deny and interrupt
        </Button>
      </>
    );
  return (
    <Menu
      label="More ways to deny"
      button={(open, toggle) => (
        <Button kind="ghost" square onClick={toggle} expanded={open} label="More ways to deny">
          <Icon name="more" small />
        </Button>
      )}
    >
      {() => [
        <MenuItem key="message" onClick={onMessage}>
          Deny with message…
        </MenuItem>,
        <MenuItem key="stop" onClick={onStop}>
          Deny and interrupt
        </MenuItem>,
      ]}
    </Menu>
  );
}

/** The button remembers the first suggestion, its menu has the others. At phone width one menu lists all. */
function Always({ askId, suggestions, full }: { askId: string; suggestions: Suggestion[]; full: boolean }) {
  const first = suggestions[0];
  if (!first) return null;
  const take = (chosen: Suggestion) =>
    void submitAnswer(askId, { decision: "allow", updated_permissions: [chosen] });
  const choices = () =>
    suggestions.map((s, i) => (
      <MenuItem key={i} onClick={() => take(s)}>
        <SuggestionLabel suggestion={s} />
        <Where suggestion={s} />
      </MenuItem>
    ));
  return (
    <>
      <span class="split">
        <Button onClick={() => take(first)} title={title(first)}>
          <SuggestionLabel suggestion={first} />
          {full && <Where suggestion={first} />}
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

function SuggestionLabel({ suggestion }: { suggestion: Suggestion }) {
  const { text, code } = suggestionText(suggestion);
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
