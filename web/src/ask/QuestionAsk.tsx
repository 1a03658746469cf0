//! Questions with options. One single-choice question is answered by one press; several, or multi-select, are sent together.
import { useContext } from "preact/hooks";
import type { Ask } from "../generated/Ask";
import type { Question } from "../generated/Question";
import { draftOf, kept } from "../lib/kept";
import { Button, TabStop } from "../ui/Button";
import { TimeLeft } from "../ui/Meters";
import { answer } from "./answers";
import type { AskProps } from "./AskView";
import { BesideAll } from "./BesideAll";
import { MessageBox } from "./MessageBox";

type Chosen = Record<string, string[]>;
const chosenOf = kept<Chosen>({});
/** The question that is answered in own words. */
const otherOf = kept<string | null>(null);
/** The question that the digits choose in. */
const atOf = kept<string | null>(null);

export function QuestionAsk(props: AskProps) {
  return props.missing === null ? <Questions ask={props.ask} /> : <div class="answer"><BesideAll {...props} fits>{null}</BesideAll></div>;
}

function Questions({ ask }: { ask: Ask }) {
  const questions = ask.questions ?? [];
  const chosen = chosenOf(ask.id);
  const other = otherOf(ask.id);
  const oneShot = questions.length === 1 && !questions[0]?.multiSelect;
  const at = atOf(ask.id);
  const unanswered = () => questions.find((q) => !chosen.value[q.question]?.length);
  const numbered = at.value ?? (unanswered() ?? questions[0])?.question;
  /** The digits go on to the next question without an answer, and the keyboard's focus with them. */
  const goOn = (from: Question) => {
    const next = unanswered();
    at.value = (next ?? from).question;
    const focused = document.activeElement;
    const within = focused?.matches(":focus-visible") && focused.closest("[data-ask]");
    if (!within) return;
    const place = next ? `[data-question="${questions.indexOf(next)}"] .option` : ".btn.primary";
    requestAnimationFrame(() => within.querySelector<HTMLElement>(place)?.focus());
  };
  const send = (picks: Chosen) => {
    const answers = Object.fromEntries(questions.map((q) => {
      const labels = picks[q.question] ?? [];
      return [q.question, q.multiSelect ? labels : (labels[0] ?? "")];
    }));
    void answer(ask.id, { decision: "allow", answers });
  };
  const pick = (q: Question, label: string) => {
    const before = chosen.value[q.question] ?? [];
    const labels = !q.multiSelect ? [label] : before.includes(label) ? before.filter((l) => l !== label) : [...before, label];
    chosen.value = { ...chosen.value, [q.question]: labels };
    if (oneShot) send(chosen.value);
    else if (!q.multiSelect) goOn(q);
  };
  const complete = unanswered() === undefined;
  return (
    <>
      {questions.map((q, i) => (
        <fieldset key={q.question} class="question" data-question={i} onFocusIn={() => { at.value = q.question; }}>
          <div class="answer">
            <legend class="q">{q.question}{q.multiSelect && <span class="dim"> choose any</span>}</legend>
            {i === 0 && ask.expires_at && <TimeLeft opened={ask.opened_at} until={ask.expires_at} />}
          </div>
          {other.value === q.question ? (
            <MessageBox
              draft={draftOf(`${ask.id} ${q.question}`)} label="Your own answer" send={oneShot ? "Answer" : "Add"}
              onSend={(text) => { other.value = null; draftOf(`${ask.id} ${q.question}`).value = ""; pick(q, text); }} onCancel={() => { other.value = null; }}
            />
          ) : (
            <Options question={q} chosen={chosen.value[q.question] ?? []} numbered={numbered === q.question} onPick={(label) => pick(q, label)} onOther={() => { other.value = q.question; }} />
          )}
        </fieldset>
      ))}
      {!oneShot && (
        <div class="answer">
          <Button kind="primary" disabled={!complete} onClick={() => send(chosen.value)} keys="y">Send {questions.length > 1 ? "answers" : "answer"} <kbd>y</kbd></Button>
          {!complete && <span class="dim">{questions.length > 1 ? "every question needs an answer" : "choose at least one"}</span>}
        </div>
      )}
    </>
  );
}

type OptionsProps = { question: Question; chosen: string[]; numbered: boolean; onPick: (label: string) => void; onOther: () => void };

function Options({ question, chosen, numbered, onPick, onOther }: OptionsProps) {
  const tab = useContext(TabStop);
  const own = chosen.filter((label) => !question.options.some((o) => o.label === label));
  const shortcut = (n: number) => (numbered && n < 10 ? String(n) : undefined);
  const key = (n: number) => shortcut(n) && <kbd>{n}</kbd>;
  const other = question.options.length + 1;
  return (
    <div class="options">
      {question.options.map((option, i) => (
        <button key={option.label} type="button" class="option" tabIndex={tab} aria-pressed={chosen.includes(option.label)} aria-keyshortcuts={shortcut(i + 1)} title={option.description ?? undefined} onClick={() => onPick(option.label)}>
          {key(i + 1)}<span class="clip">{option.label}</span>
          {option.description && <small class="clip">{option.description}</small>}
        </button>
      ))}
      {own.map((label) => (
        <button key={label} type="button" class="option" tabIndex={tab} aria-pressed onClick={() => onPick(label)}><span class="clip">{label}</span></button>
      ))}
      <button type="button" class="option" tabIndex={tab} aria-keyshortcuts={shortcut(other)} onClick={onOther}>
        {key(other)}<span class="clip">Something else…</span><small class="clip">type your own answer</small>
      </button>
    </div>
  );
}
