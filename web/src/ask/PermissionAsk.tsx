/**
 * Allow, allow and remember, or deny. A risky call needs a second press; an input too large for the card is
 * reviewed in the drawer first.
 */
import { useAskKeys } from "../keys/askKeys";
import { can } from "../live/capabilities";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Menu, MenuItem } from "../ui/Menu";
import { TimeLeft } from "../ui/Meters";
import { ApprovalGate } from "./ApprovalGate";
import type { AskProps } from "./AskView";
import { DenyMessage, DenyMore, denyAndStop, WRITING } from "./Deny";
import { type PermissionAnswers, permissionKeys, usePermissionAnswers } from "./permissionAnswers";
import { isRulePanelOpen, RulePanel, useRuleMaker } from "./RulePanel";
import { type Suggestion, suggestionText } from "./suggestion";
import { ToolInputView } from "./ToolInputView";
import { fitsCard, toolInput } from "./toolInput";

export function PermissionAsk(props: AskProps) {
  const { ask, full, missing } = props;
  const input = toolInput(ask);
  const fits = fitsCard(input);
  const isWhole = missing === null && (full || fits);
  const answers = usePermissionAnswers(ask, full);
  const first = isWhole && !ask.caution ? ask.suggestions[0] : undefined;
  const isWriting = answers.writing.value;
  const isMakingRule = full && isRulePanelOpen(ask.id);
  const maker = useRuleMaker(ask, isMakingRule);
  const keys = isMakingRule ? maker.keys : permissionKeys(props, isWhole, first, answers);
  useAskKeys(ask.id, full, isWriting ? WRITING : keys);
  if (isWriting)
    return (
      <>
        <ToolInputView input={input} full={full} clipped={!full && !isWhole} />
        <DenyMessage ask={ask} />
      </>
    );
  return (
    <>
      <ToolInputView input={input} full={full} clipped={!full && !isWhole} />
      {ask.caution && isWhole && <Caution text={ask.caution} />}
      {isMakingRule ? (
        <RulePanel ask={ask} maker={maker} />
      ) : (
        <AnswerButtons {...props} fits={fits} first={first} answers={answers} />
      )}
    </>
  );
}

type AnswerButtonsProps = AskProps & {
  fits: boolean;
  /** The suggestion that the button "always" remembers. */
  first: Suggestion | undefined;
  answers: PermissionAnswers;
};

function AnswerButtons({ fits, first, answers, ...props }: AnswerButtonsProps) {
  const { ask, full } = props;
  const { confirm } = answers;
  return (
    <div class="answer">
      <ApprovalGate {...props} fits={fits}>
        {/* Both presses use the same button: a new button would not have the focus. */}
        <Button
          kind={confirm.armed ? "danger" : "primary"}
          onClick={answers.allowOrConfirm}
          waiting={confirm.waiting}
          class="grow"
          keys="y"
        >
          {confirm.armed ? `Confirm: ${ask.caution?.toLowerCase()}` : ask.caution ? "Allow…" : "Allow"}{" "}
          <kbd>y</kbd>
        </Button>
      </ApprovalGate>
      {confirm.armed && (
        <Button onClick={confirm.disarm} keys="Escape">
          Cancel <kbd>Esc</kbd>
        </Button>
      )}
      {!confirm.armed && first && (
        <Always suggestions={ask.suggestions} full={full} take={answers.allowAlways} />
      )}
      {!confirm.armed && (
        <Button onClick={answers.deny} keys="d">
          Deny <kbd>d</kbd>
        </Button>
      )}
      {!confirm.armed && (
        <DenyMore
          full={full}
          onMessage={answers.write}
          onRule={can("rules") ? answers.makeRule : null}
          onStop={(event) => denyAndStop(ask, event)}
        />
      )}
      {ask.expires_at && <TimeLeft opened={ask.opened_at} until={ask.expires_at} />}
    </div>
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
