/**
 * Text that was written for an ask which ended meanwhile, for example because it was answered in the terminal.
 * The text is kept, with the reason why the ask ended, until the person dismisses it.
 */
import type { Ask } from "../generated/Ask";
import { draftOf, keyedState } from "../lib/drafts";
import { onSessionChanges, type SessionChange } from "../live/store";
import { resolutionText, submissionOf } from "./submission";

export type KeptText = { askId: string; text: string; why: string };

/** By session. */
export const keptTextOf = keyedState<KeptText | null>(null);

export function startKeepingText(): void {
  onSessionChanges((changes) => changes.forEach(keepText));
}

function keepText({ before, after }: SessionChange): void {
  for (const ask of before?.asks ?? []) {
    const now = after.asks.find(({ id }) => id === ask.id);
    if (ask.resolution !== null || (now && now.resolution === null)) continue;
    const text = draftsOf(ask).find((draft) => draft.trim() !== "");
    if (text === undefined || wasSentHere(ask)) continue;
    keptTextOf(after.id).value = {
      askId: ask.id,
      text,
      why: now?.resolution ? resolutionText(now.resolution) : "It ended",
    };
  }
}

/** Called when the person sent the text here, so that it need not be kept. */
const wasSentHere = ({ id }: Ask) => /sending|ended/.test(submissionOf(id).peek().kind);

const draftsOf = ({ id, questions }: Ask): string[] =>
  [id, ...(questions ?? []).map((q) => `${id} ${q.question}`)].map((key) => draftOf(key).peek());
