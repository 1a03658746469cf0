//! What a person can do to a session besides answering. The daemon decides whether it can be done now and says why not.
import { mutedProjects, mutedSessions, toggleMuteProject, toggleMuteSession } from "../alerts/settings";
import { can } from "../live/able";
import { postFocus, postInterrupt, postPrompt, postSeen, Refusal, type How } from "../live/api";
import { sessionSignal } from "../live/store";
import { doubtIn, type Doubt } from "./doubt";
import { say, sayError, sentence } from "../ui/toast";

export async function goToTerminal(id: string): Promise<void> {
  if (!can("focus")) return say("This Flightdeck cannot bring a terminal to the front", true);
  try {
    await postFocus(id);
    say("The terminal is in front");
  } catch (error) {
    sayError(error);
  }
}

/** Ends its turn, or with `stop` the client itself. */
export async function interrupt(id: string, stop = false): Promise<void> {
  try {
    const { confirmed, message } = await postInterrupt(id, { confirm: true, stop });
    say(sentence(message), !confirmed);
  } catch (error) {
    sayError(error);
  }
}

/**
 * What a person types to take a session up again. The daemon tells it to whoever wants to press keys where it has none to
 * press; without a confirmation nothing is pressed either way.
 */
export async function resumeCommand(id: string): Promise<string | null> {
  try {
    await postInterrupt(id, { confirm: false });
    say("It has a terminal again", true);
  } catch (error) {
    const { resume } = (error instanceof Refusal ? (error.body ?? {}) : {}) as { resume?: unknown };
    if (typeof resume === "string") return resume;
    sayError(error);
  }
  return null;
}

/** "sent", or why the text stays in its box: a question to the person, or a failure that was told. */
export async function sendPrompt(id: string, text: string, how: How): Promise<"sent" | "failed" | Doubt> {
  try {
    const { confirmed, message } = await postPrompt(id, text, how);
    say(confirmed ? "Prompt sent" : sentence(message), !confirmed);
    return "sent";
  } catch (error) {
    const doubt = doubtIn(error);
    if (doubt) return doubt;
    sayError(error);
    return "failed";
  }
}

export function markSeen(id: string): void {
  if (sessionSignal(id)?.peek().seen) return;
  // A mark that does not arrive only leaves the dot on the card.
  postSeen(id).catch(() => undefined);
}

/** No sound and no note from it, until it is pressed again. */
export function mute(id: string): void {
  toggleMuteSession(id);
  say(mutedSessions.value.includes(id) ? "This session is muted: it sends no notifications" : "This session may notify you again");
}

export function muteProject(name: string): void {
  toggleMuteProject(name);
  say(mutedProjects.value.includes(name) ? `${name} is muted: none of its sessions sends notifications` : `Sessions of ${name} may notify you again`);
}

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say("Copied");
  } catch {
    say(`Copy it by hand: ${text}`, true);
  }
}
