/**
 * Questions with options. A single question with one choice is answered by one press; several questions, or a question
 * with several choices, are sent together.
 */
import { useContext } from "preact/hooks";
import type { Ask } from "../generated/Ask";
import type { Question } from "../generated/Question";
import { type AskKeys, useAskKeys } from "../keys/askKeys";
import { draftOf } from "../lib/drafts";
import { Button, TabStop } from "../ui/Button";
import { TimeLeft } from "../ui/Meters";
import { ApprovalGate } from "./ApprovalGate";
import type { AskProps } from "./AskView";
import { MessageBox } from "./MessageBox";
import { type QuestionForm, questionForm } from "./questionForm";

export function QuestionAsk(props: AskProps) {
  return props.missing === null ? (
    <Questions ask={props.ask} full={props.full} />
  ) : (
    <div class="answer">
      <ApprovalGate {...props} fits>
        {null}
      </ApprovalGate>
    </div>
  );
}

function Questions({ ask, full }: { ask: Ask; full: boolean }) {
  const form = questionForm(ask);
  const { questions, oneShot, complete, numbered } = form;
  const send = () => {
    if (complete) form.send();
  };
  const digits = numbered && !form.isWriting(numbered) ? digitKeys(form, numbered) : {};
  useAskKeys(ask.id, full, oneShot ? digits : { ...digits, y: send });
  return (
    <>
      {questions.map((q, i) => (
        <fieldset key={q.question} class="question" data-question={i} onFocusIn={() => form.number(q)}>
          <div class="answer">
            <legend class="q">
              {q.question}
              {q.multiSelect && <span class="dim"> choose any</span>}
            </legend>
            {i === 0 && ask.expires_at && <TimeLeft opened={ask.opened_at} until={ask.expires_at} />}
          </div>
          {form.isWriting(q) ? (
            <OwnAnswer askId={ask.id} form={form} question={q} />
          ) : (
            <Options form={form} question={q} />
          )}
        </fieldset>
      ))}
      {!oneShot && (
        <div class="answer">
          <Button kind="primary" disabled={!complete} onClick={send} keys="y">
            Send {questions.length > 1 ? "answers" : "answer"} <kbd>y</kbd>
          </Button>
          {!complete && (
            <span class="dim">
              {questions.length > 1 ? "every question needs an answer" : "choose at least one"}
            </span>
          )}
        </div>
      )}
    </>
  );
}

/** There is no key for a tenth option. */
const hasDigit = (n: number) => n < 10;
const numberOfOther = (question: Question) => question.options.length + 1;

function digitKeys(form: QuestionForm, question: Question): AskKeys {
  const options = question.options.map((option) => () => form.pick(question, option.label));
  const all = [...options, () => form.write(question)];
  return Object.fromEntries(
    all.map((act, i) => [String(i + 1), act] as const).filter((_, i) => hasDigit(i + 1)),
  );
}

function OwnAnswer({ askId, form, question }: { askId: string; form: QuestionForm; question: Question }) {
  const draft = draftOf(`${askId} ${question.question}`);
  const add = (text: string) => {
    form.write(null);
    draft.value = "";
    form.pick(question, text);
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
          digit={digit(i + 1)}
          title={option.description ?? undefined}
          onClick={() => form.pick(question, option.label)}
        />
      ))}
      {own.map((label) => (
        <Option key={label} label={label} pressed onClick={() => form.pick(question, label)} />
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
  onClick: () => void;
};

function Option({ label, description, pressed, digit, title, onClick }: OptionProps) {
  const tab = useContext(TabStop);
  return (
    <button
      type="button"
      class="option"
      tabIndex={tab}
      aria-pressed={pressed}
      aria-keyshortcuts={digit}
      title={title}
      onClick={onClick}
    >
      {digit && <kbd>{digit}</kbd>}
      <span class="clip">{label}</span>
      {description && <small class="clip">{description}</small>}
    </button>
  );
}
