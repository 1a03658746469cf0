//! What a person can do to a session besides answering. The daemon decides whether it can be done now and says why not.
import { can } from "../live/able";
import { postFocus, postInterrupt, postPrompt, postSeen } from "../live/api";
import { sessionSignal } from "../live/store";
import { say, sayError } from "../ui/toast";

export async function goToTerminal(id: string): Promise<void> {
  if (!can("focus")) return say("This Flightdeck cannot bring a terminal to the front", true);
  try {
    await postFocus(id);
    say("The terminal is in front");
  } catch (error) {
    sayError(error);
  }
}

export async function interrupt(id: string): Promise<void> {
  try {
    await postInterrupt(id);
    say("Interrupt sent");
  } catch (error) {
    sayError(error);
  }
}

/** True if the prompt went out; on false the text stays in its box. */
export async function sendPrompt(id: string, text: string): Promise<boolean> {
  try {
    await postPrompt(id, text);
    say("Prompt sent");
    return true;
  } catch (error) {
    sayError(error);
    return false;
  }
}

export function markSeen(id: string): void {
  if (sessionSignal(id)?.peek().seen) return;
  // A mark that does not arrive only leaves the dot on the card.
  postSeen(id).catch(() => undefined);
}

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say("Copied");
  } catch {
    say(`Copy it by hand: ${text}`, true);
  }
}
