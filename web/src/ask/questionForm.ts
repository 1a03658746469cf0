/** The state of an ask with questions: what is chosen, where the digit keys choose, and how it is sent. */
import type { Ask } from "../generated/Ask";
import type { Question } from "../generated/Question";
import { keyedState } from "../lib/drafts";
import { submitAnswer } from "./submission";

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
  const unanswered = () => questions.find((q) => !chosen.value[q.question]?.length);
  /** One press answers it: there is nothing else to choose. */
  const oneShot = questions.length === 1 && !questions[0]?.multiSelect;
  const numberedText = numbered.value ?? (unanswered() ?? questions[0])?.question;

  const send = () =>
    void submitAnswer(ask.id, { decision: "allow", answers: answers(questions, chosen.value) });
  const numberNext = (from: Question) => {
    const next = unanswered();
    numbered.value = (next ?? from).question;
    moveFocus(next ? `[data-question="${questions.indexOf(next)}"] .option` : ".btn.primary");
  };
  const pick = (q: Question, label: string) => {
    chosen.value = { ...chosen.value, [q.question]: withLabel(q, chosen.value[q.question] ?? [], label) };
    if (oneShot) send();
    else if (!q.multiSelect) numberNext(q);
  };
  return {
    questions,
    oneShot,
    complete: unanswered() === undefined,
    numbered: questions.find((q) => q.question === numberedText),
    chosenIn: (q: Question) => chosen.value[q.question] ?? [],
    isWriting: (q: Question) => writing.value === q.question,
    write: (q: Question | null) => {
      writing.value = q?.question ?? null;
    },
    number: (q: Question) => {
      numbered.value = q.question;
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
