/**
 * Gives an answer. A click sends it at once. A key holds it back for the undo time first, because a key is
 * pressed faster than it is read (decision 0018).
 */
import { signal } from "@preact/signals";
import type { AnswerAsk } from "../generated/AnswerAsk";
import type { Ask } from "../generated/Ask";
import { undoSeconds } from "../lib/preferences";
import { postAnswerOnLeave } from "../live/api";
import { submissionOf, submitAnswer } from "./submission";

/**
 * An answer that is not sent yet, to one ask or to several that were answered together. `what` says what was
 * done, such as "Allowed"; `key` gave it.
 */
export type PendingAnswer = { asks: Ask[]; body: AnswerAsk; what: string; sendAt: number; key: string };

/** Oldest first. */
export const pendingAnswers = signal<PendingAnswer[]>([]);
const timers = new Map<PendingAnswer, ReturnType<typeof setTimeout>>();

/** The pending answer to this ask. */
export const pendingOf = (askId: string): PendingAnswer | undefined =>
  pendingAnswers.value.find(({ asks }) => asks.some((ask) => ask.id === askId));

let afterKeyAnswer: (ask: Ask, event: UIEvent) => void = () => undefined;
/** Calls `follow` after each answer that was given by a key. */
export function onKeyAnswer(follow: (ask: Ask, event: UIEvent) => void): void {
  afterKeyAnswer = follow;
}

/** Enter and Space on a button arrive as a click without a count. */
const isByKey = (event: UIEvent) => event.type === "keydown" || event.detail === 0;

export function giveAnswer(ask: Ask, body: AnswerAsk, what: string, event: UIEvent): void {
  giveAnswers([ask], body, what, event);
}

/** Gives the same answer to several asks. They are sent and taken back together. */
export function giveAnswers(asks: Ask[], body: AnswerAsk, what: string, event: UIEvent): void {
  const waitMs = undoSeconds.peek() * 1000;
  const [first] = asks;
  if (!first) return;
  if (!isByKey(event)) {
    for (const ask of asks) sendNow(ask.id);
    send(asks, body);
    return;
  }
  if (waitMs <= 0) send(asks, body);
  else {
    const key = event instanceof KeyboardEvent ? event.key : "Enter";
    hold({ asks, body, what, key, sendAt: Date.now() + waitMs }, waitMs);
  }
  afterKeyAnswer(first, event);
}

function send(asks: Ask[], body: AnswerAsk): void {
  for (const ask of asks) void submitAnswer(ask.id, body);
}

function hold(answer: PendingAnswer, waitMs: number): void {
  const { asks, what, sendAt } = answer;
  for (const ask of asks) submissionOf(ask.id).value = { kind: "pending", what, sendAt };
  pendingAnswers.value = [...pendingAnswers.value, answer];
  timers.set(
    answer,
    setTimeout(() => asks[0] && sendNow(asks[0].id), waitMs),
  );
}

/** Removes the answer from those that wait. */
function take(askId: string): PendingAnswer | undefined {
  const found = pendingOf(askId);
  if (!found) return undefined;
  clearTimeout(timers.get(found));
  timers.delete(found);
  pendingAnswers.value = pendingAnswers.value.filter((other) => other !== found);
  return found;
}

/** Sends a pending answer before its time. Returns whether there was one. */
export function sendNow(askId: string): boolean {
  const found = take(askId);
  if (found) send(found.asks, found.body);
  return found !== undefined;
}

/** Takes the last pending answer back, or the one to this ask. Returns the first ask that is open again. */
export function undoAnswer(askId = pendingAnswers.value.at(-1)?.asks[0]?.id): Ask | null {
  const found = askId === undefined ? undefined : take(askId);
  for (const ask of found?.asks ?? []) submissionOf(ask.id).value = { kind: "open" };
  return found?.asks[0] ?? null;
}

/** A page that is closed sends what the person has answered. */
export function sendPendingOnLeave(): void {
  addEventListener("pagehide", () => {
    for (const { asks, body } of pendingAnswers.value) {
      if (asks[0]) take(asks[0].id);
      for (const ask of asks) postAnswerOnLeave(ask.id, body);
    }
  });
}
