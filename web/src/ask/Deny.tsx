/** The ways to deny a permission or a question: at once, with a message, with an interrupt, or by a new rule. */
import type { ComponentChildren } from "preact";
import type { Ask } from "../generated/Ask";
import { type AskKeys, key, refused, useAskKeys } from "../keys/askKeys";
import { draftOf, keyedState } from "../lib/drafts";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Menu, MenuItem } from "../ui/Menu";
import { TimeLeft } from "../ui/Meters";
import { giveAnswer } from "./giveAnswer";
import { MessageBox } from "./MessageBox";
import { ToolInputView } from "./ToolInputView";
import { hasInput, toolInput } from "./toolInput";

export const denyAsk = (ask: Ask, event: UIEvent) => giveAnswer(ask, { decision: "deny" }, "Denied", event);
export const denyAndStop = (ask: Ask, event: UIEvent) =>
  giveAnswer(ask, { decision: "deny", interrupt: true }, "Denied and interrupted", event);

/** True while a message to an ask is being written. */
export const writingOf = keyedState(false);

export const denyKeys = (ask: Ask): AskKeys => ({
  d: key("deny", (event) => denyAsk(ask, event)),
  D: key("deny with message", () => {
    writingOf(ask.id).value = true;
  }),
});

type DenyRowProps = { ask: Ask; full: boolean; children?: ComponentChildren };

/** The ways to deny and the time left, after other buttons of the ask. While a message is written, its box. */
export function DenyRow({ ask, full, children }: DenyRowProps) {
  const writing = writingOf(ask.id);
  if (writing.value) return <DenyMessage ask={ask} />;
  return (
    <div class="answer">
      {children}
      <Button onClick={(event) => denyAsk(ask, event)} keys="d">
        Deny <kbd>d</kbd>
      </Button>
      <DenyMore
        full={full}
        onMessage={() => {
          writing.value = true;
        }}
        onRule={null}
        onStop={(event) => denyAndStop(ask, event)}
      />
      {ask.expires_at && <TimeLeft opened={ask.opened_at} until={ask.expires_at} />}
    </div>
  );
}

/** A permission that may be denied here, but not allowed; `why` says why. */
export function DenyOnlyAsk({ ask, full, why }: { ask: Ask; full: boolean; why: string }) {
  const keys: AskKeys = { ...denyKeys(ask), y: refused(why), a: refused(why) };
  useAskKeys(ask.id, full, writingOf(ask.id).value ? WRITING : keys);
  return (
    <>
      {hasInput(ask) && <ToolInputView input={toolInput(ask)} full={full} />}
      <p class="dim">{why}</p>
      <DenyRow ask={ask} full={full} />
    </>
  );
}

/** The keys of an ask while a message to it is being written. */
export const WRITING: AskKeys = Object.fromEntries(
  ["y", "d", "a", "D"].map((name) => [name, refused("a message is being written: send or cancel it first")]),
);

export const DenyMessage = ({ ask }: { ask: Ask }) => (
  <MessageBox
    draft={draftOf(ask.id)}
    label="Why not, and what instead"
    send="Deny"
    onSend={(message, event) =>
      giveAnswer(ask, { decision: "deny", message }, "Denied with a message", event)
    }
    onCancel={() => {
      writingOf(ask.id).value = false;
    }}
  />
);

/** The drawer shows the two other ways to deny as buttons; a card has them in a menu. */
type DenyMoreProps = {
  full: boolean;
  onMessage: () => void;
  onStop: (event: UIEvent) => void;
  onRule: (() => void) | null;
};

export function DenyMore({ full, onMessage, onStop, onRule }: DenyMoreProps) {
  if (full)
    return (
      <span class="more-ways">
        <Button kind="ghost" onClick={onMessage} keys="D">
          Deny with message… <kbd>D</kbd>
        </Button>
        <Button kind="ghost" onClick={onStop}>
          Deny and interrupt
        </Button>
        {onRule && (
          <Button kind="ghost" onClick={onRule} keys="w">
            Make this a rule… <kbd>w</kbd>
          </Button>
        )}
      </span>
    );
  return (
    <Menu
      label="More ways to answer"
      button={(open, toggle) => (
        <Button kind="ghost" square onClick={toggle} expanded={open} label="More ways to answer">
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
        onRule && (
          <MenuItem key="rule" onClick={onRule}>
            Make this a rule…
          </MenuItem>
        ),
      ]}
    </Menu>
  );
}
