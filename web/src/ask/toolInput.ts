/**
 * The input of a tool call in a readable form: a command, an edit, a plan, or named values. Fields without a
 * place in that form are listed below it, so none is left out.
 */
import type { Ask } from "../generated/Ask";
import { type DiffLine, diffLines } from "./diff";

export type Values = [name: string, value: string][];

type Shape =
  | { kind: "command"; command: string; description: string | null }
  | { kind: "edit"; path: string; lines: DiffLine[] }
  | { kind: "plan"; markdown: string }
  | { kind: "values" };

export type ToolInput = Shape & { rest: Values };

type Fields = Record<string, unknown>;

/** A host that shares no commands sends none. */
export const hasInput = ({ tool_input }: Pick<Ask, "tool_input">): boolean =>
  tool_input !== null && Object.keys(tool_input).length > 0;

export function toolInput({ tool_input, kind }: Pick<Ask, "tool_input" | "kind">): ToolInput {
  const input = tool_input ?? {};
  if (kind === "plan") return { kind: "plan", markdown: text(input.plan), rest: restOf(input, ["plan"]) };
  if (typeof input.command === "string") {
    const { command, description } = input;
    if (typeof description !== "string")
      return { kind: "command", command, description: null, rest: restOf(input, ["command"]) };
    return { kind: "command", command, description, rest: restOf(input, ["command", "description"]) };
  }
  return editInput(input) ?? { kind: "values", rest: restOf(input, []) };
}

function editInput(input: Fields): ToolInput | null {
  const { file_path: path, old_string: before, new_string: after, edits, content } = input;
  if (typeof path !== "string") return null;
  if (typeof before === "string" && typeof after === "string") {
    return {
      kind: "edit",
      path,
      lines: diffLines(before, after),
      rest: restOf(input, ["file_path", "old_string", "new_string"]),
    };
  }
  if (Array.isArray(edits) && edits.every(isEdit)) {
    const lines = edits.flatMap((one) => diffLines(one.old_string, one.new_string));
    const more = edits.flatMap((one, i) =>
      restOf(one, ["old_string", "new_string"]).map(([name, value]): Values[number] => [
        `edit ${i + 1}: ${name}`,
        value,
      ]),
    );
    return { kind: "edit", path, lines, rest: [...restOf(input, ["file_path", "edits"]), ...more] };
  }
  if (typeof content === "string")
    return {
      kind: "edit",
      path,
      lines: diffLines("", content),
      rest: restOf(input, ["file_path", "content"]),
    };
  return null;
}

const isEdit = (value: unknown): value is Fields & { old_string: string; new_string: string } => {
  const { old_string, new_string } = (value ?? {}) as Fields;
  return typeof old_string === "string" && typeof new_string === "string";
};

const restOf = (input: Fields, shown: string[]): Values =>
  Object.entries(input).flatMap(
    ([name, value]): Values => (shown.includes(name) ? [] : [[name, text(value)]]),
  );

const text = (value: unknown): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2);

/** A card shows an input completely or only clipped. Allow is offered only for a complete one. */
const CARD_LINES_MAX = 12;
const CARD_CHARS_MAX = 700;
const CARD_DIFF_CHARS_MAX = 160;

export function fitsCard(input: ToolInput): boolean {
  const rest = input.rest.map(([name, value]) => `${name}: ${value}`);
  switch (input.kind) {
    case "command":
      return fitsInLines([input.command, input.description ?? "", ...rest]);
    case "edit":
      return (
        fitsInLines(rest, input.lines.length) &&
        input.lines.every((line) => line.text.length <= CARD_DIFF_CHARS_MAX)
      );
    case "plan":
      return fitsInLines([input.markdown, ...rest]);
    case "values":
      return fitsInLines(rest);
  }
}

function fitsInLines(parts: string[], linesBefore = 0): boolean {
  const body = parts.filter((part) => part !== "").join("\n");
  const lines = body === "" ? 0 : body.split("\n").length;
  return body.length <= CARD_CHARS_MAX && linesBefore + lines <= CARD_LINES_MAX;
}
