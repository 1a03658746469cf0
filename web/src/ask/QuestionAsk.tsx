/**
 * Questions with options. A single question with one choice is answered by one press; several questions, or a question
 * with several choices, are sent together.
 */
import { useContext } from "preact/hooks";
import type { Ask } from "../generated/Ask";
import type { Question } from "../generated/Question";
import { type AskKeys, key, refused, useAskKeys } from "../keys/askKeys";
import { draftOf } from "../lib/drafts";
import { Button, TabStop, useIsOff } from "../ui/Button";
import { ApprovalGate } from "./ApprovalGate";
import type { AskProps } from "./AskView";
import { DenyRow, denyKeys, WRITING, writingOf } from "./Deny";
import { MessageBox } from "./MessageBox";
import { type QuestionForm, questionForm } from "./questionForm";

export function QuestionAsk(props: AskProps) {
  return props.missing === null ? (
    <Questions ask={props.ask} full={props.full} />
  ) : (
    <CutQuestions {...props} />
  );
}

/** Not all of the questions is here: they can be denied, but answered only where all of them is shown. */
function CutQuestions(props: AskProps) {
  const { ask, full } = props;
  const unread = refused(full ? "not all of it can be shown" : "read all of it first: Enter opens it");
  const keys = { ...denyKeys(ask), y: unread };
  useAskKeys(ask.id, full, writingOf(ask.id).value ? WRITING : keys);
  return (
    <DenyRow ask={ask} full={full}>
      <ApprovalGate {...props} fits>
        {null}
      </ApprovalGate>
    </DenyRow>
  );
}

function Questions({ ask, full }: { ask: Ask; full: boolean }) {
  const form = questionForm(ask);
  const { questions, oneShot, complete, next } = form;
  useAskKeys(ask.id, full, writingOf(ask.id).value ? WRITING : questionKeys(ask, form));
  return (
    <>
      {questions.map((q, i) => (
        <fieldset
          key={q.question}
          class="question"
          data-question={i}
          data-numbered={form.numbered === q && questions.length > 1 ? "" : undefined}
          onFocusIn={() => form.number(q)}
        >
          <legend class="q">
            {q.question}
            {q.multiSelect && <span class="dim"> choose any</span>}
          </legend>
          {form.isWriting(q) ? (
            <OwnAnswer askId={ask.id} form={form} question={q} />
          ) : (
            <Options form={form} question={q} />
          )}
        </fieldset>
      ))}
      <DenyRow ask={ask} full={full}>
        {!oneShot &&
          (next ? (
            <Button onClick={() => form.goTo(next)} keys="y">
              Next question <kbd>y</kbd>
            </Button>
          ) : (
            <Button kind="primary" disabled={!complete} onClick={form.send} keys="y">
              Send {questions.length > 1 ? "answers" : "answer"} <kbd>y</kbd>
            </Button>
          ))}
        {!complete && !oneShot && (
          <span class="dim">
            {questions.length > 1 ? "every question needs an answer" : "choose at least one"}
          </span>
        )}
      </DenyRow>
    </>
  );
}

/** There is no key for a tenth option. */
const hasDigit = (n: number) => n < 10;
const numberOfOther = (question: Question) => question.options.length + 1;

/** Digits choose, y goes on or sends, [ and ] go to the question before and after. */
function questionKeys(ask: Ask, form: QuestionForm): AskKeys {
  const { numbered, next, complete, oneShot, questions } = form;
  if (numbered && form.isWriting(numbered))
    return { y: refused("an answer is being written: send or cancel it first") };
  const several = questions.length > 1;
  const keys: AskKeys = {
    ...(numbered && digitKeys(form, numbered)),
    ...denyKeys(ask),
    y: oneShot
      ? refused("choose by digit")
      : next
        ? key("next question", () => form.goTo(next))
        : complete
          ? key(several ? "send answers" : "send", form.send)
          : refused("choose at least one first"),
  };
  if (numbered) keys.r = key("own answer", () => form.write(numbered));
  for (const [name, by, label] of [
    ["[", -1, "question before"],
    ["]", 1, "question after"],
  ] as const) {
    const beside = form.beside(by);
    if (several) keys[name] = beside ? key(label, () => form.goTo(beside)) : refused(`there is no ${label}`);
  }
  return keys;
}

function digitKeys(form: QuestionForm, question: Question): AskKeys {
  const options = question.options.map(({ label }) =>
    key(label, (event) => form.pick(question, label, event)),
  );
  const all = [...options, key("something else", () => form.write(question))];
  return Object.fromEntries(
    all.map((one, i) => [String(i + 1), one] as const).filter((_, i) => hasDigit(i + 1)),
  );
}

function OwnAnswer({ askId, form, question }: { askId: string; form: QuestionForm; question: Question }) {
  const draft = draftOf(`${askId} ${question.question}`);
  const add = (text: string, event: UIEvent) => {
    form.write(null);
    draft.value = "";
    form.pick(question, text, event);
  };
  return (
    <MessageBox
      draft={draft}
      label="Your own answer"
      send={form.oneShot ? "Answer" : "Add"}
      onSend={add}
      onCancel={() => form.write(null)}
    />
  );
}

function Options({ form, question }: { form: QuestionForm; question: Question }) {
  const chosen = form.chosenIn(question);
  const own = chosen.filter((label) => !question.options.some((o) => o.label === label));
  const digit = (n: number) =>
    form.numbered?.question === question.question && hasDigit(n) ? String(n) : undefined;
  return (
    <div class="options">
      {question.options.map((option, i) => (
        <Option
          key={option.label}
          label={option.label}
          description={option.description}
          pressed={chosen.includes(option.label)}
          many={question.multiSelect}
          digit={digit(i + 1)}
          title={option.description ?? undefined}
          onClick={(event) => form.pick(question, option.label, event)}
        />
      ))}
      {own.map((label) => (
        <Option
          key={label}
          label={label}
          many={question.multiSelect}
          pressed
          onClick={(event) => form.pick(question, label, event)}
        />
      ))}
      <Option
        label="Something else…"
        description="type your own answer"
        digit={digit(numberOfOther(question))}
        onClick={() => form.write(question)}
      />
    </div>
  );
}

type OptionProps = {
  label: string;
  description?: string | null;
  pressed?: boolean;
  digit?: string;
  title?: string;
  /** Several may be chosen: a tick box instead of a round mark. */
  many?: boolean;
  onClick: (event: MouseEvent) => void;
};

function Option({ label, description, pressed, digit, title, many, onClick }: OptionProps) {
  const tab = useContext(TabStop);
  return (
    <button
      type="button"
      disabled={useIsOff()}
      class="option"
      tabIndex={tab}
      aria-pressed={pressed}
      aria-keyshortcuts={digit}
      title={title}
      onClick={onClick}
    >
      {digit && <kbd>{digit}</kbd>}
      {pressed !== undefined && <i class={many ? "tick box" : "tick"} aria-hidden="true" />}
      <span class="clip">{label}</span>
      {description && <small>{description}</small>}
    </button>
  );
}
