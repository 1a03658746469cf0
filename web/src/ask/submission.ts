/**
 * The state of the answer to each ask: waiting to be sent, being sent, and how it ended. Another answer may
 * have been first, so the daemon's reply decides what is shown.
 */
import type { AnswerAsk } from "../generated/AnswerAsk";
import type { Resolution } from "../generated/Resolution";
import { keyedState } from "../lib/drafts";
import { humanize } from "../lib/format";
import { postAnswer, Refusal } from "../live/api";
import { capitalize, showToast } from "../ui/toast";

export type Submission =
  | { kind: "open" }
  /** Given by a key and not sent yet: it can be taken back until then. */
  | { kind: "pending"; what: string; sendAt: number }
  | { kind: "sending" }
  | { kind: "ended"; text: string }
  | { kind: "failed"; text: string };

export const submissionOf = keyedState<Submission>({ kind: "open" });

/** True if the person can still answer: nothing was given, or sending it failed. */
export function isUnanswered(askId: string): boolean {
  const { kind } = submissionOf(askId).value;
  return kind === "open" || kind === "failed";
}

export async function submitAnswer(askId: string, body: AnswerAsk): Promise<void> {
  const state = submissionOf(askId);
  if (state.peek().kind === "sending" || state.peek().kind === "ended") return;
  state.value = { kind: "sending" };
  try {
    const resolution = await postAnswer(askId, body);
    state.value = { kind: "ended", text: resolutionText(resolution) };
  } catch (error) {
    state.value = submissionAfter(error);
    const { text } = state.value as { text: string };
    showToast(text, true);
  }
}

function submissionAfter(error: unknown): Submission {
  if (!(error instanceof Refusal)) {
    return {
      kind: "failed",
      text: "Not sent: no connection to the daemon. The terminal prompt is still open.",
    };
  }
  if (error.status === 404) return { kind: "ended", text: "This request no longer exists" };
  const first = resolutionIn(error.body);
  // A 409 without a resolution means that the ask cannot be answered here; the daemon's message says why.
  if (error.status === 409 && first.how) return { kind: "ended", text: resolutionText(first) };
  if (error.status === 422) return { kind: "failed", text: `The answer was not accepted: ${error.message}` };
  return { kind: "failed", text: capitalize(error.message) };
}

/** The body is `{how, by, at}` or has it in `resolution`. */
function resolutionIn(body: unknown): Partial<Resolution> {
  const outer = (body ?? {}) as { resolution?: Partial<Resolution> } & Partial<Resolution>;
  return outer.resolution ?? outer;
}

const BY: Record<string, string> = {
  web: "here",
  cli: "from the command line",
  tui: "in the TUI",
  api: "through the API",
  terminal: "in the terminal",
};

/** Ends that need more words than their name has. */
const ENDED: Partial<Record<string, string>> = {
  client_died: "The client died while it asked",
  agent_ended: "The agent ended while it asked",
  closed_while_away: "Closed while Flightdeck was away",
};

export function resolutionText({ how, by, rule, message }: Partial<Resolution>): string {
  const what = how ? (ENDED[how] ?? humanize(how)) : "Answered";
  if (by === "policy") return rule ? `${what} by policy: ${rule}` : `${what} by policy`;
  const where = by ? (BY[by] ?? `by ${by}`) : "";
  const outcome = where && !what.includes("terminal") ? `${what} ${where}` : what;
  return message ? `${outcome}: “${message}”` : outcome;
}
