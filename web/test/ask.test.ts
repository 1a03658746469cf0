import { expect, test } from "vitest";
import { diffLines } from "../src/ask/diff";
import { fitsCard, toolInput } from "../src/ask/input";
import { suggestionText } from "../src/ask/suggestion";
import { endedText } from "../src/ask/answers";
import { parseBlocks } from "../src/ui/Markdown";

test("an edit shows what stays, goes and comes", () => {
  expect(diffLines("a\nb\nc", "a\nB\nc").map((l) => l.sign + l.text)).toEqual([" a", "-b", "+B", " c"]);
  expect(diffLines("", "new").map((l) => l.sign)).toEqual(["+"]);
});

test("each tool's input gets the shape it is read in", () => {
  const of = (tool_name: string, tool_input: Record<string, unknown>, kind: "permission" | "plan" = "permission") => toolInput({ tool_name, tool_input, kind });
  expect(of("Bash", { command: "ls" }).kind).toBe("command");
  expect(of("Write", { file_path: "a", content: "x" }).kind).toBe("edit");
  expect(of("ExitPlanMode", { plan: "1. x" }, "plan").kind).toBe("plan");
  expect(of("mcp__x__y", { deep: { a: 1 } })).toEqual({ kind: "values", values: [["deep", "{\n  \"a\": 1\n}"]] });
});

test("Allow stands only beside the whole input", () => {
  expect(fitsCard({ kind: "command", command: "ls", description: null })).toBe(true);
  expect(fitsCard({ kind: "command", command: "echo\n".repeat(30), description: null })).toBe(false);
  expect(fitsCard({ kind: "command", command: "x".repeat(2000), description: null })).toBe(false);
});

test("a suggestion says what it will remember and where", () => {
  expect(suggestionText({ type: "addRules", rules: [{ toolName: "Bash", ruleContent: "cargo test:*" }], destination: "localSettings" })).toEqual({ text: "Always", code: "cargo test:*", where: "this checkout" });
  expect(suggestionText({ type: "somethingNew" }).text).toBe("somethingNew");
});

test("how an ask ended is said in words", () => {
  expect(endedText({ how: "allowed", by: "web" })).toBe("Allowed here");
  expect(endedText({ how: "answered_in_terminal", by: "terminal" })).toBe("Answered in terminal");
  expect(endedText({ how: "allowed", by: "policy", rule: "Bash cargo test*" })).toBe("Allowed by policy: Bash cargo test*");
  expect(endedText({}, "Already answered")).toBe("Already answered");
});

test("a plan's Markdown becomes blocks, never HTML", () => {
  expect(parseBlocks("# Plan\n1. one\n2. two\n   more\n\ntext <b>x</b>\n```\ncode\n```").map((b) => b.kind)).toEqual(["heading", "list", "text", "code"]);
  expect(parseBlocks("1. two\n   more")).toEqual([{ kind: "list", ordered: true, items: ["two more"] }]);
});
