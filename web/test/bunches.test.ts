import { describe, expect, test } from "vitest";
import { byInput, likenesses, plainAskOf, sharedRule } from "../src/ask/plainAsk";
import { commonText } from "../src/ask/suggestion";
import { bunchesIn, NOTHING_BEFORE } from "../src/board/bunches";
import type { Ask } from "../src/generated/Ask";
import type { Session } from "../src/generated/Session";
import { session } from "./session";

const permission = (id: string, tool_input: Record<string, unknown>, more: Partial<Ask> = {}): Ask => ({
  id: `ask-${id}`,
  session_id: id,
  agent_id: null,
  kind: "permission",
  tool_name: "Bash",
  tool_input,
  questions: null,
  suggestions: [],
  caution: null,
  message: null,
  requested_schema: null,
  url: null,
  mcp_server_name: null,
  opened_at: "2026-11-18T00:00:00.000Z",
  expires_at: null,
  answerable: true,
  resolution: null,
  ...more,
});

const asking = (id: string, tool_input: Record<string, unknown>, more: Partial<Ask> = {}): Session => ({
  ...session({ id }),
  asks: [permission(id, tool_input, more)],
});

const rule = (ruleContent?: string) => [
  { type: "addRules", behavior: "allow", rules: [{ toolName: "Bash", ruleContent }] },
];

describe("asks that are alike", () => {
  test("the same command in several sessions is one bunch, whatever its description says", () => {
    const sessions = [
      asking("a", { command: "cargo test", description: "Run the tests" }),
      asking("b", { command: "ls" }),
      asking("c", { command: "cargo test", description: "Check" }),
    ];
    expect(bunchesIn(sessions, [], NOTHING_BEFORE)).toEqual({ a: ["a", "c"] });
  });

  test("the same suggested rule makes asks alike, a rule for a whole tool does not", () => {
    const narrow = [
      asking("a", { command: "cargo test -p x" }, { suggestions: rule("cargo test:*") }),
      asking("b", { command: "cargo test -p y" }, { suggestions: rule("cargo test:*") }),
    ];
    expect(bunchesIn(narrow, [], NOTHING_BEFORE)).toEqual({ a: ["a", "b"] });
    const wide = [
      asking("a", { command: "one" }, { suggestions: rule() }),
      asking("b", { command: "two" }, { suggestions: rule() }),
    ];
    expect(bunchesIn(wide, [], NOTHING_BEFORE)).toEqual({});
  });

  test("what cannot be undone, is cut or only the terminal can answer is never in a bunch", () => {
    const same = { command: "git push --force" };
    for (const more of [
      { caution: "Force push" },
      { answerable: false },
      { tool_input: { command: "x…[12 bytes clipped]" } },
    ] satisfies Partial<Ask>[])
      expect(bunchesIn([asking("a", same, more), asking("b", same, more)], [], NOTHING_BEFORE)).toEqual({});
  });

  test("asks that are alike only by a rule are told apart by input, and the rule is said in words", () => {
    const asks = [
      permission("a", { command: "cargo test -p core" }, { suggestions: [] }),
      permission("b", { command: "cargo test -p core" }, { suggestions: rule("cargo test:*") }),
      permission("c", { command: "cargo test -p web" }, { suggestions: rule("cargo test:*") }),
    ].map((ask) => ({ ask }));
    expect(byInput(asks).map((same) => same.map(({ ask }) => ask.session_id))).toEqual([["a", "b"], ["c"]]);
    const shared = sharedRule(asks.map(({ ask }) => ask));
    expect(shared && commonText(shared)).toEqual({ text: "commands that begin with", code: "cargo test" });
  });

  test("a session with two open asks is not in a bunch, because its card shows both", () => {
    const two = asking("a", { command: "ls" });
    two.asks.push(permission("a2", { command: "pwd" }));
    expect(plainAskOf(two)).toBeNull();
  });

  test("the selected card stands for the bunch, else the card that did before", () => {
    const sessions = ["a", "b", "c"].map((id) => asking(id, { command: "ls" }));
    const before = { bunches: { c: ["c", "b"] }, held: null, selected: null };
    expect(bunchesIn(sessions, [], before)).toEqual({ c: ["c", "a", "b"] });
    expect(bunchesIn(sessions, [], { ...before, selected: "b" })).toEqual({ b: ["b", "a", "c"] });
  });

  test("a card under the pointer does not become a bunch, and split asks stay single", () => {
    const sessions = ["a", "b", "c"].map((id) => asking(id, { command: "ls" }));
    expect(bunchesIn(sessions, [], { ...NOTHING_BEFORE, held: "a" })).toEqual({ b: ["b", "c"] });
    expect(bunchesIn(sessions, ["ask-a", "ask-b"], NOTHING_BEFORE)).toEqual({});
  });

  test("an edit is alike only with all of its input", () => {
    const edit = (text: string) =>
      likenesses(
        permission("a", { file_path: "/a", old_string: "x", new_string: text }, { tool_name: "Edit" }),
      );
    expect(edit("y")).toEqual(edit("y"));
    expect(edit("y")).not.toEqual(edit("z"));
  });
});
