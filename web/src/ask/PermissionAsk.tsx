//! Allow, allow and remember, deny. What cannot be undone asks twice; what does not fit on the card is reviewed first.
import { draftOf, kept } from "../lib/kept";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { useTwice } from "../ui/twice";
import { TimeLeft } from "../ui/Meters";
import { Menu, MenuItem } from "../ui/Menu";
import { answer } from "./answers";
import type { AskProps } from "./AskView";
import { BesideAll } from "./BesideAll";
import { Input } from "./Input";
import { fitsCard, toolInput } from "./input";
import { MessageBox } from "./MessageBox";
import { suggestionText, type Suggestion } from "./suggestion";

const writingOf = kept(false);

export function PermissionAsk(props: AskProps) {
  const { ask, whole, missing } = props;
  const input = toolInput(ask);
  const fits = fitsCard(input);
  const all = missing === null && (whole || fits);
  const warning = ask.caution;
  const allow = () => void answer(ask.id, { decision: "allow" });
  const twice = useTwice(allow);
  const writing = writingOf(ask.id);
  const deny = () => void answer(ask.id, { decision: "deny" });
  if (writing.value) return (
    <>
      <Input input={input} whole={whole} clipped={!whole && !all} />
      <MessageBox
        draft={draftOf(ask.id)} label="Why not, and what instead" send="Deny"
        onSend={(message) => void answer(ask.id, { decision: "deny", message })}
        onCancel={() => { writing.value = false; }}
      />
    </>
  );
  return (
    <>
      <Input input={input} whole={whole} clipped={!whole && !all} />
      <div class="answer">
        <BesideAll {...props} fits={fits}>
          {/* One button for both presses: another one would not have the focus. */}
          <Button kind={twice.armed ? "danger" : "primary"} onClick={warning ? twice.press : allow} waiting={twice.waiting} class="grow" keys="y">
            {twice.armed ? `Confirm: ${warning?.toLowerCase()}` : warning ? "Allow…" : "Allow"} <kbd>y</kbd>
          </Button>
        </BesideAll>
        {twice.armed && <Button onClick={twice.disarm} keys="n">Cancel <kbd>n</kbd></Button>}
        {!twice.armed && all && !warning && <Always askId={ask.id} suggestions={ask.suggestions} whole={whole} />}
        {!twice.armed && <Button onClick={deny} keys="n">Deny <kbd>n</kbd></Button>}
        {warning && all && !twice.armed && <span class="chip fail"><Icon name="triangle" small /><span class="clip">{warning}: asks twice</span></span>}
        {!twice.armed && <DenyMore whole={whole} onMessage={() => { writing.value = true; }} onStop={() => void answer(ask.id, { decision: "deny", interrupt: true })} />}
        {ask.expires_at && <TimeLeft opened={ask.opened_at} until={ask.expires_at} />}
      </div>
    </>
  );
}

/** In the drawer the two slower ways to say no stand in the open; on a card they fold behind three dots. */
function DenyMore({ whole, onMessage, onStop }: { whole: boolean; onMessage: () => void; onStop: () => void }) {
  if (whole) return (
    <>
      <Button kind="ghost" onClick={onMessage}>Deny with message…</Button>
      <Button kind="ghost" onClick={onStop}>Deny and interrupt</Button>
    </>
  );
  return (
    <Menu label="More ways to deny" button={(open, toggle) => (
      <Button kind="ghost" square onClick={toggle} expanded={open} label="More ways to deny"><Icon name="more" small /></Button>
    )}>
      {() => [
        <MenuItem key="message" onClick={onMessage}>Deny with message…</MenuItem>,
        <MenuItem key="stop" onClick={onStop}>Deny and interrupt</MenuItem>,
      ]}
    </Menu>
  );
}

/** One press remembers the first suggestion; the arrow has the others. A phone has no room for that, so it lists them all. */
function Always({ askId, suggestions, whole }: { askId: string; suggestions: Suggestion[]; whole: boolean }) {
  const first = suggestions[0];
  if (!first) return null;
  const take = (chosen: Suggestion) => void answer(askId, { decision: "allow", updated_permissions: [chosen] });
  const choices = () => suggestions.map((s, i) => (
    <MenuItem key={i} onClick={() => take(s)}><SuggestionLabel suggestion={s} /><Where suggestion={s} /></MenuItem>
  ));
  return (
    <>
      <span class="split">
        <Button onClick={() => take(first)} title={title(first)}><SuggestionLabel suggestion={first} />{whole && <Where suggestion={first} />}</Button>
        {suggestions.length > 1 && (
          <Menu label="Choose what to remember" button={(open, toggle) => (
            <Button onClick={toggle} expanded={open} label="Choose what to remember"><Icon name="down" small /></Button>
          )}>
            {choices}
          </Menu>
        )}
      </span>
      <Menu label="Choose what to remember" class="always-phone" button={(open, toggle) => <Button onClick={toggle} expanded={open}>Always…</Button>}>
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
  // Where there is no room for all of a path, its end says more than its beginning.
  if (code?.startsWith("/")) return <span class="remember">{text} <code class="clip path"><bdi>{code}</bdi></code></span>;
  return <span class="clip">{text}{code && <> <code>{code}</code></>}</span>;
}

/** Where it will be remembered. A card has no room for it beside the rule itself. */
function Where({ suggestion }: { suggestion: Suggestion }) {
  const { where } = suggestionText(suggestion);
  return where && <span class="dim">{where}</span>;
}
