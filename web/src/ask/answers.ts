//! Sends an answer and remembers, per ask, what became of it: the page never assumes it won.
import type { Answer } from "../generated/Answer";
import type { Resolution } from "../generated/Resolution";
import { words } from "../lib/format";
import { kept } from "../lib/kept";
import { postAnswer, Refusal } from "../live/api";
import { say, sentence } from "../ui/toast";

export type Sent =
  | { kind: "open" }
  | { kind: "sending" }
  | { kind: "ended"; text: string }
  | { kind: "failed"; text: string };

export const sentOf = kept<Sent>({ kind: "open" });

export async function answer(askId: string, body: Answer): Promise<void> {
  const state = sentOf(askId);
  if (state.peek().kind === "sending" || state.peek().kind === "ended") return;
  state.value = { kind: "sending" };
  try {
    const resolution = await postAnswer(askId, body);
    state.value = { kind: "ended", text: endedText(resolution) };
  } catch (error) {
    state.value = failure(error);
    const { text } = state.value as { text: string };
    say(text, true);
  }
}

function failure(error: unknown): Sent {
  if (!(error instanceof Refusal)) {
    return { kind: "failed", text: "Not sent: no connection to the daemon. The terminal prompt is still open." };
  }
  if (error.status === 404) return { kind: "ended", text: "This request is gone" };
  const first = resolutionIn(error.body);
  // Without a resolution nobody answered: it cannot be answered here, and the daemon says why.
  if (error.status === 409 && first.how) return { kind: "ended", text: endedText(first) };
  if (error.status === 422) return { kind: "failed", text: `The answer does not fit: ${error.message}` };
  return { kind: "failed", text: sentence(error.message) };
}

/** The daemon sends `{how, by, at}` itself or inside `resolution`. */
function resolutionIn(body: unknown): Partial<Resolution> {
  const outer = (body ?? {}) as { resolution?: Partial<Resolution> } & Partial<Resolution>;
  return outer.resolution ?? outer;
}

const BY: Record<string, string> = { web: "here", cli: "from the command line", tui: "in the TUI", api: "through the API", terminal: "in the terminal" };

export function endedText({ how, by, rule }: Partial<Resolution>): string {
  const what = how ? words(how) : "Answered";
  if (by === "policy") return rule ? `${what} by policy: ${rule}` : `${what} by policy`;
  const where = by ? (BY[by] ?? `by ${by}`) : "";
  return where && !what.includes("terminal") ? `${what} ${where}` : what;
}
