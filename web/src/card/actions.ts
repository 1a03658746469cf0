/**
 * What the person can do with a session besides answering. The daemon decides whether it is possible now and
 * explains a refusal.
 */
import { mutedProjects, mutedSessions, toggleMuteProject, toggleMuteSession } from "../alerts/settings";
import { type How, postFocus, postInterrupt, postPrompt, postSeen, Refusal } from "../live/api";
import { can } from "../live/capabilities";
import { sessionSignal } from "../live/store";
import { capitalize, showError, showToast } from "../ui/toast";
import { type PromptCheck, promptCheckIn } from "./promptChecks";

export async function goToTerminal(id: string): Promise<void> {
  if (!can("focus")) return showToast("This Flightdeck cannot bring a terminal to the front", true);
  try {
    await postFocus(id);
    showToast("The terminal is now in front");
  } catch (error) {
    showError(error);
  }
}

/** Ends the session's turn, or with `stop` Claude Code itself. */
export async function interrupt(id: string, stop = false): Promise<void> {
  try {
    const { confirmed, message } = await postInterrupt(id, { confirm: true, stop });
    showToast(capitalize(message), !confirmed);
  } catch (error) {
    showError(error);
  }
}

/**
 * The command that resumes a session. The daemon returns it in the refusal of an interrupt for a session
 * without a terminal. Without `confirm` the daemon presses no keys.
 */
export async function resumeCommand(id: string): Promise<string | null> {
  try {
    await postInterrupt(id, { confirm: false, stop: false });
    showToast("This session has a terminal again", true);
  } catch (error) {
    const { resume } = (error instanceof Refusal ? (error.body ?? {}) : {}) as { resume?: unknown };
    if (typeof resume === "string") return resume;
    showError(error);
  }
  return null;
}

/**
 * Returns "sent", "failed" after showing the error, or a question for the person. Except for "sent", the text
 * stays in the field.
 */
export async function sendPrompt(
  id: string,
  text: string,
  how: How,
): Promise<"sent" | "failed" | PromptCheck> {
  try {
    const { confirmed, message } = await postPrompt(id, text, how);
    showToast(confirmed ? "Prompt sent" : capitalize(message), !confirmed);
    return "sent";
  } catch (error) {
    const check = promptCheckIn(error);
    if (check) return check;
    showError(error);
    return "failed";
  }
}

export function markSeen(id: string): void {
  if (sessionSignal(id)?.peek().seen) return;
  // If the request fails, the card only keeps its dot.
  postSeen(id).catch(() => undefined);
}

/** Mutes the session, or unmutes a muted one. */
export function mute(id: string): void {
  toggleMuteSession(id);
  showToast(
    mutedSessions.value.includes(id)
      ? "This session is muted: it sends no notifications"
      : "This session may notify you again",
  );
}

export function muteProject(name: string): void {
  toggleMuteProject(name);
  showToast(
    mutedProjects.value.includes(name)
      ? `${name} is muted: none of its sessions sends notifications`
      : `Sessions of ${name} may notify you again`,
  );
}

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showToast("Copied");
  } catch {
    showToast(`Copy it by hand: ${text}`, true);
  }
}
