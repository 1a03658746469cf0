import { expect, test } from "vitest";
import { diffLines } from "../src/ask/diff";
import { isTruncated } from "../src/ask/fullAsk";
import { resolutionText } from "../src/ask/submission";
import { suggestionText } from "../src/ask/suggestion";
import { fitsCard, toolInput } from "../src/ask/toolInput";
import { parseBlocks } from "../src/ui/Markdown";

const of = (tool_input: Record<string, unknown>, kind: "permission" | "plan" = "permission") =>
  toolInput({ tool_input, kind });

test("an edit shows unchanged, removed and added lines", () => {
  expect(diffLines("a\nb\nc", "a\nB\nc").map((l) => l.sign + l.text)).toEqual([" a", "-b", "+B", " c"]);
  expect(diffLines("", "new").map((l) => l.sign)).toEqual(["+"]);
});

test("each tool's input gets its readable form", () => {
  expect(of({ command: "ls" }).kind).toBe("command");
  expect(of({ file_path: "a", content: "x" }).kind).toBe("edit");
  expect(of({ plan: "1. x" }, "plan").kind).toBe("plan");
  expect(of({ deep: { a: 1 } })).toEqual({ kind: "values", rest: [["deep", '{\n  "a": 1\n}']] });
});

test("no field of an input is left out in any form", () => {
  expect(of({ command: "ls", description: "look", dangerouslyDisableSandbox: true }).rest).toEqual([
    ["dangerouslyDisableSandbox", "true"],
  ]);
  expect(of({ command: "ls", description: ["x"] }).rest).toEqual([["description", '[\n  "x"\n]']]);
  expect(of({ plan: "x", command: "rm -rf /" })).toMatchObject({
    kind: "command",
    command: "rm -rf /",
    rest: [["plan", "x"]],
  });
  expect(of({ plan: "x", allowedPrompts: [] }, "plan").rest).toEqual([["allowedPrompts", "[]"]]);
  expect(
    of({ file_path: "a", old_string: "x", new_string: "y", replace_all: true, content: "z" }).rest,
  ).toEqual([
    ["replace_all", "true"],
    ["content", "z"],
  ]);
  expect(
    of({
      file_path: "a",
      edits: [
        { old_string: "x", new_string: "y" },
        { old_string: "p", new_string: "q", replace_all: true },
      ],
    }).rest,
  ).toEqual([["edit 2: replace_all", "true"]]);
  expect(of({ file_path: "a", edits: [{ what: "else" }] }).kind).toBe("values");
  expect(of({ file_path: "a", old_string: 1, new_string: "y" }).rest).toHaveLength(3);
  expect(of({ nothing: null }).rest).toEqual([["nothing", "null"]]);
});

test("Allow is offered only with the whole input", () => {
  expect(fitsCard(of({ command: "ls" }))).toBe(true);
  expect(fitsCard(of({ command: "echo\n".repeat(30) }))).toBe(false);
  expect(fitsCard(of({ command: "x".repeat(2000) }))).toBe(false);
  expect(fitsCard(of({ command: "ls", description: "y".repeat(2000) }))).toBe(false);
  expect(fitsCard(of({ command: "ls", env: "y".repeat(2000) }))).toBe(false);
  expect(fitsCard(of({ file_path: "a", content: "x", note: "y\n".repeat(20) }))).toBe(false);
});

test("truncated input is recognised by the daemon's marks in any field", () => {
  const cut = (tool_input: Record<string, unknown> | null) => isTruncated({ kind: "permission", tool_input });
  expect(cut({ content: "abc…[12 bytes clipped]" })).toBe(true);
  expect(cut({ list: ["a", "…[3 more clipped]"] })).toBe(true);
  expect(cut({ deep: { "…": "…[3 more clipped]" } })).toBe(true);
  expect(cut({ deep: "…[nested too deep: clipped]" })).toBe(true);
  expect(cut({ "long…[9 bytes clipped]": 1 })).toBe(true);
  expect(cut(null)).toBe(true);
  expect(cut({ command: "echo clipped]" })).toBe(false);
  expect(isTruncated({ kind: "elicitation", tool_input: null })).toBe(false);
});

test("a suggestion says in words what it would allow, and where that is stored", () => {
  expect(
    suggestionText({
      type: "addRules",
      rules: [{ toolName: "Bash", ruleContent: "cargo test:*" }],
      destination: "localSettings",
    }),
  ).toEqual({
    text: "Always allow commands that begin with",
    short: "Always",
    code: "cargo test",
    where: "this checkout",
  });
  expect(suggestionText({ type: "addRules", rules: [{ toolName: "WebFetch" }] }).text).toBe(
    "Always allow every WebFetch",
  );
  const path = "//home/dev/work/**";
  expect(suggestionText({ type: "addRules", rules: [{ toolName: "Read", ruleContent: path }] }).code).toBe(
    "/home/dev/work/**",
  );
  expect(suggestionText({ type: "addRules", rules: [{ toolName: "Bash", ruleContent: path }] }).code).toBe(
    path,
  );
  expect(suggestionText({ type: "somethingNew" }).text).toBe("somethingNew");
});

test("the resolution of an ask has a text", () => {
  expect(resolutionText({ how: "allowed", by: "web" })).toBe("Allowed here");
  expect(resolutionText({ how: "answered_in_terminal", by: "terminal" })).toBe("Answered in terminal");
  expect(resolutionText({ how: "allowed", by: "policy", rule: "Bash cargo test*" })).toBe(
    "Allowed by policy: Bash cargo test*",
  );
  expect(resolutionText({})).toBe("Answered");
});

test("a plan's Markdown becomes blocks, never HTML", () => {
  expect(
    parseBlocks("# Plan\n1. one\n2. two\n   more\n\ntext <b>x</b>\n```\ncode\n```").map((b) => b.kind),
  ).toEqual(["heading", "list", "text", "code"]);
  expect(parseBlocks("| a | b |\n|---|:-:|\n| one | x \\| y |\n| alone |\ntext")).toEqual([
    { kind: "table", rows: [["a", "b"], ["one", "x | y"], ["alone"]] },
    { kind: "text", text: "text" },
  ]);
  expect(parseBlocks("> one\n> > two\nafter")).toEqual([
    { kind: "quote", text: "one\ntwo" },
    { kind: "text", text: "after" },
  ]);
  expect(parseBlocks("1. two\n   more")).toEqual([
    { kind: "list", ordered: true, items: [{ mark: "1.", depth: 0, text: "two more" }] },
  ]);
});

const marks = (markdown: string) =>
  parseBlocks(markdown).map((b) => (b.kind === "list" ? b.items.map((item) => item.mark) : b.kind));

test("a numbered list keeps its numbers over empty lines, inner lists and code", () => {
  expect(marks("1. one\n\n2. two\n   - inner\n   - more\n3. three")).toEqual([["1.", "2.", "•", "•", "3."]]);
  expect(marks("1. one\n```\ncode\n```\n2. two")).toEqual([["1."], "code", ["2."]]);
  expect(marks("1. one\n1. two\n1. three")).toEqual([["1.", "2.", "3."]]);
});
