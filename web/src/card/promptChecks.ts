/**
 * Questions that the daemon asks before it types a prompt: whether the text is meant as a command, and what to
 * do with a draft in the terminal.
 */
import { type How, Refusal } from "../live/api";

export type PromptChoice = { label: string; how: How };
/** `draft` is the text in the terminal's prompt box. */
export type PromptCheck = { question: string; draft: string | null; choices: PromptChoice[] };

const DRAFT_CHOICES: Record<string, PromptChoice> = {
  keep: { label: "Keep it for later", how: { draft: "keep" } },
  replace: { label: "Replace it", how: { draft: "replace" } },
};

/** Null if the refusal is not a question. */
export function promptCheckIn(error: unknown): PromptCheck | null {
  if (
    !(error instanceof Refusal) ||
    error.status !== 409 ||
    typeof error.body !== "object" ||
    error.body === null
  )
    return null;
  const { confirm, draft, choices } = error.body as Record<string, unknown>;
  if (confirm === "command") {
    return {
      question: "Claude Code would run this as a command instead of sending it.",
      draft: null,
      choices: [
        { label: "Run it", how: { as: "command" } },
        { label: "Send as text", how: { as: "text" } },
      ],
    };
  }
  if (typeof draft !== "string" || !Array.isArray(choices)) return null;
  const known = choices.flatMap((name) => DRAFT_CHOICES[String(name)] ?? []);
  return known.length > 0 ? { question: "There is a draft in its prompt box:", draft, choices: known } : null;
}
