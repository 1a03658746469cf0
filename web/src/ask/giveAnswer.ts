/**
 * Gives an answer. A click sends it at once. A key holds it back for the undo time first, because a key is
 * pressed faster than it is read (decision 0018).
 */
import { signal } from "@preact/signals";
import type { Answer } from "../generated/Answer";
import type { Ask } from "../generated/Ask";
import { undoSeconds } from "../lib/preferences";
import { postAnswerOnLeave } from "../live/api";
import { submissionOf, submitAnswer } from "./submission";

/** An answer that is not sent yet. `what` says what was done, such as "Allowed"; `key` gave it. */
export type PendingAnswer = { ask: Ask; body: Answer; what: string; sendAt: number; key: string };

/** Oldest first. */
export const pendingAnswers = signal<PendingAnswer[]>([]);
const timers = new Map<string, ReturnType<typeof setTimeout>>();

let afterKeyAnswer: (ask: Ask, event: UIEvent) => void = () => undefined;
/** Calls `follow` after each answer that was given by a key. */
export function onKeyAnswer(follow: (ask: Ask, event: UIEvent) => void): void {
  afterKeyAnswer = follow;
}

/** Enter and Space on a button arrive as a click without a count. */
const isByKey = (event: UIEvent) => event.type === "keydown" || event.detail === 0;

export function giveAnswer(ask: Ask, body: Answer, what: string, event: UIEvent): void {
  const waitMs = undoSeconds.peek() * 1000;
  if (!isByKey(event)) {
    sendNow(ask.id);
    void submitAnswer(ask.id, body);
    return;
  }
  if (waitMs <= 0) void submitAnswer(ask.id, body);
  else {
    const key = event instanceof KeyboardEvent ? event.key : "Enter";
    hold({ ask, body, what, key, sendAt: Date.now() + waitMs }, waitMs);
  }
  afterKeyAnswer(ask, event);
}

function hold(answer: PendingAnswer, waitMs: number): void {
  const { ask, what, sendAt } = answer;
  submissionOf(ask.id).value = { kind: "pending", what, sendAt };
  pendingAnswers.value = [...pendingAnswers.value, answer];
  timers.set(
    ask.id,
    setTimeout(() => sendNow(ask.id), waitMs),
  );
}

/** Removes the answer from those that wait. */
function take(askId: string): PendingAnswer | undefined {
  clearTimeout(timers.get(askId));
  timers.delete(askId);
  const found = pendingAnswers.value.find(({ ask }) => ask.id === askId);
  if (found) pendingAnswers.value = pendingAnswers.value.filter((other) => other !== found);
  return found;
}

/** Sends a pending answer before its time. Returns whether there was one. */
export function sendNow(askId: string): boolean {
  const found = take(askId);
  if (found) void submitAnswer(askId, found.body);
  return found !== undefined;
}

/** Takes the last pending answer back, or the one to this ask. Returns the ask that is open again. */
export function undoAnswer(askId = pendingAnswers.value.at(-1)?.ask.id): Ask | null {
  const found = askId === undefined ? undefined : take(askId);
  if (!found) return null;
  submissionOf(found.ask.id).value = { kind: "open" };
  return found.ask;
}

/** A page that is closed sends what the person has answered. */
export function sendPendingOnLeave(): void {
  addEventListener("pagehide", () => {
    for (const { ask, body } of pendingAnswers.value) {
      take(ask.id);
      postAnswerOnLeave(ask.id, body);
    }
  });
}
