/** The state of an ask with questions: what is chosen, where the digit keys choose, and how it is sent. */
import type { Ask } from "../generated/Ask";
import type { Question } from "../generated/Question";
import { keyedState } from "../lib/drafts";
import { giveAnswer } from "./giveAnswer";

/** Chosen labels by question. */
type Chosen = Record<string, string[]>;
const chosenOf = keyedState<Chosen>({});
/** The question whose box for an own answer is open. */
const writingOf = keyedState<string | null>(null);
/** The question whose options have numbers. */
const numberedOf = keyedState<string | null>(null);

export type QuestionForm = ReturnType<typeof questionForm>;

export function questionForm(ask: Ask) {
  const questions = ask.questions ?? [];
  const chosen = chosenOf(ask.id);
  const writing = writingOf(ask.id);
  const numbered = numberedOf(ask.id);
  const isOpen = (q: Question) => !chosen.value[q.question]?.length;
  const unanswered = () => questions.find(isOpen);
  /** One press answers it: there is nothing else to choose. */
  const oneShot = questions.length === 1 && !questions[0]?.multiSelect;
  const numberedText = numbered.value ?? (unanswered() ?? questions[0])?.question;
  const current = questions.find((q) => q.question === numberedText);

  const send = (event: UIEvent) =>
    giveAnswer(ask, { decision: "allow", answers: answers(questions, chosen.value) }, "Answered", event);
  const number = (q: Question) => {
    numbered.value = q.question;
  };
  const goTo = (q: Question) => {
    number(q);
    moveFocus(`[data-question="${questions.indexOf(q)}"] .option`);
  };
  const numberNext = (from: Question) => {
    const next = unanswered();
    number(next ?? from);
    moveFocus(next ? `[data-question="${questions.indexOf(next)}"] .option` : ".btn.primary");
  };
  const pick = (q: Question, label: string, event: UIEvent) => {
    chosen.value = { ...chosen.value, [q.question]: withLabel(q, chosen.value[q.question] ?? [], label) };
    if (oneShot) send(event);
    else if (q.multiSelect) number(q);
    else numberNext(q);
  };
  /** The question that y goes to: the next one without an answer, if this one has an answer. */
  const next = current && !isOpen(current) ? unanswered() : undefined;
  return {
    questions,
    oneShot,
    complete: unanswered() === undefined,
    numbered: current,
    next,
    goTo,
    number,
    /** The question before or after the numbered one, or none at either end. */
    beside: (by: number) => (current ? questions[questions.indexOf(current) + by] : undefined),
    chosenIn: (q: Question) => chosen.value[q.question] ?? [],
    isWriting: (q: Question) => writing.value === q.question,
    write: (q: Question | null) => {
      writing.value = q?.question ?? null;
    },
    pick,
    send,
  };
}

const answers = (questions: Question[], chosen: Chosen) =>
  Object.fromEntries(
    questions.map((q) => {
      const labels = chosen[q.question] ?? [];
      return [q.question, q.multiSelect ? labels : (labels[0] ?? "")];
    }),
  );

function withLabel(q: Question, before: string[], label: string): string[] {
  if (!q.multiSelect) return [label];
  return before.includes(label) ? before.filter((l) => l !== label) : [...before, label];
}

/** Moves a keyboard focus that is inside an ask to another element of that ask, after the next frame was drawn. */
function moveFocus(selector: string): void {
  const focused = document.activeElement;
  const ask = focused?.matches(":focus-visible") && focused.closest("[data-ask]");
  if (ask) requestAnimationFrame(() => ask.querySelector<HTMLElement>(selector)?.focus());
}
