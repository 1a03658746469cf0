//! What a tool was asked to do, in the shape the card can show: a command, an edit, a plan, or named values.
import type { Ask } from "../generated/Ask";
import { diffLines, type DiffLine } from "./diff";

export type ToolInput =
  | { kind: "command"; command: string; description: string | null }
  | { kind: "edit"; path: string; lines: DiffLine[] }
  | { kind: "plan"; markdown: string }
  | { kind: "values"; values: [string, string][] };

export function toolInput({ tool_name, tool_input, kind }: Pick<Ask, "tool_name" | "tool_input" | "kind">): ToolInput {
  const input = tool_input ?? {};
  if (kind === "plan" || typeof input.plan === "string") return { kind: "plan", markdown: text(input.plan) };
  if (typeof input.command === "string") return { kind: "command", command: input.command, description: textOrNull(input.description) };
  if (typeof input.file_path === "string") {
    const lines = editLines(tool_name, input);
    if (lines) return { kind: "edit", path: input.file_path, lines };
  }
  return { kind: "values", values: Object.entries(input).map(([name, value]) => [name, text(value)]) };
}

function editLines(tool: string | null, input: Record<string, unknown>): DiffLine[] | null {
  if (typeof input.old_string === "string" || typeof input.new_string === "string") {
    return diffLines(text(input.old_string), text(input.new_string));
  }
  if (Array.isArray(input.edits)) {
    return input.edits.flatMap((edit: Record<string, unknown>) => diffLines(text(edit.old_string), text(edit.new_string)));
  }
  if (tool === "Write" || typeof input.content === "string") return diffLines("", text(input.content));
  return null;
}

const text = (value: unknown): string => (value == null ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2));
const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** A card shows an input whole or not at all: Allow stands only beside all of it. */
const CARD_LINES_MAX = 12;
const CARD_CHARS_MAX = 700;

export function fitsCard(input: ToolInput): boolean {
  switch (input.kind) {
    case "command":
      return fitsText(input.command);
    case "edit":
      return input.lines.length <= CARD_LINES_MAX && input.lines.every((line) => line.text.length <= 160);
    case "plan":
      return fitsText(input.markdown);
    case "values":
      return fitsText(input.values.map(([name, value]) => `${name}: ${value}`).join("\n"));
  }
}

const fitsText = (body: string) => body.length <= CARD_CHARS_MAX && body.split("\n").length <= CARD_LINES_MAX;
