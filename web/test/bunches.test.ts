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

/** Each bunch as the sessions of its asks, and the sessions whose cards it takes the place of. */
const shown = (sessions: Session[], split: string[] = [], before = NOTHING_BEFORE) =>
  Object.fromEntries(
    Object.entries(bunchesIn(sessions, split, before)).map(([host, own]) => [
      host,
      own.map(({ members, whole, folded }) =>
        [...members.map((m) => m.ask), whole ? "instead of" : "beside the others", ...folded].join(" "),
      ),
    ]),
  );

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
    expect(shown(sessions)).toEqual({ a: ["ask-a ask-c instead of c"] });
  });

  test("the same suggested rule makes asks alike, a rule for a whole tool does not", () => {
    const narrow = [
      asking("a", { command: "cargo test -p x" }, { suggestions: rule("cargo test:*") }),
      asking("b", { command: "cargo test -p y" }, { suggestions: rule("cargo test:*") }),
    ];
    expect(shown(narrow)).toEqual({ a: ["ask-a ask-b instead of b"] });
    const wide = [
      asking("a", { command: "one" }, { suggestions: rule() }),
      asking("b", { command: "two" }, { suggestions: rule() }),
    ];
    expect(shown(wide)).toEqual({});
  });

  test("what cannot be undone, is cut or only the terminal can answer is never in a bunch", () => {
    const same = { command: "git push --force" };
    for (const more of [
      { caution: "Force push" },
      { answerable: false },
      { tool_input: { command: "x…[12 bytes clipped]" } },
    ] satisfies Partial<Ask>[])
      expect(shown([asking("a", same, more), asking("b", same, more)])).toEqual({});
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

  /** A session with several asks. */
  const askingFor = (id: string, ...commands: string[]): Session => ({
    ...session({ id }),
    asks: commands.map((command, i) => ({ ...permission(id, { command }), id: `${id}${i + 1}` })),
  });

  test("asks of one session that are alike are one bunch on its own card", () => {
    const twice = askingFor("a", "ls", "ls");
    expect(plainAskOf(twice)).toBeNull();
    expect(shown([twice])).toEqual({ a: ["a1 a2 beside the others"] });
    expect(shown([askingFor("a", "ls", "pwd", "ls")])).toEqual({ a: ["a1 a3 beside the others"] });
    expect(shown([askingFor("a", "ls", "pwd")])).toEqual({});
    expect(shown([askingFor("a", "ls", "pwd", "ls", "pwd")])).toEqual({
      a: ["a1 a3 beside the others", "a2 a4 beside the others"],
    });
  });

  test("an ask belongs to a bunch although its session asks something else too, and keeps its card", () => {
    const sessions = [askingFor("a", "ls", "pwd"), askingFor("b", "ls"), askingFor("c", "ls", "ls")];
    expect(shown(sessions)).toEqual({ b: ["b1 a1 c1 c2 instead of c"] });
    expect(shown([askingFor("a", "ls", "pwd"), askingFor("b", "ls")])).toEqual({ b: ["b1 a1 instead of"] });
    // The card of a session that asks something else shows no asks of other sessions.
    expect(shown([askingFor("a", "ls", "pwd"), askingFor("b", "ls", "pwd", "ls")])).toEqual({
      b: ["b1 b3 beside the others"],
    });
  });

  test("the selected card stands for the bunch, else the card that did before", () => {
    const sessions = ["a", "b", "c"].map((id) => asking(id, { command: "ls" }));
    const c = [{ members: [], whole: true, folded: ["b"] }];
    const before = { bunches: { c }, held: null, selected: null };
    expect(shown(sessions, [], before)).toEqual({ c: ["ask-c ask-a ask-b instead of a b"] });
    expect(shown(sessions, [], { ...before, selected: "b" })).toEqual({
      b: ["ask-b ask-a ask-c instead of a c"],
    });
  });

  test("a card under the pointer does not become a bunch, and split asks stay single", () => {
    const sessions = ["a", "b", "c"].map((id) => asking(id, { command: "ls" }));
    const held = { ...NOTHING_BEFORE, held: "a" };
    expect(shown(sessions, [], held)).toEqual({ b: ["ask-b ask-c instead of c"] });
    expect(shown(sessions, ["ask-a", "ask-b"])).toEqual({});
    // Its card does not change: it asks something else too, and another card shows the bunch.
    const mixed = [askingFor("a", "ls", "pwd"), askingFor("b", "ls")];
    expect(shown(mixed, [], held)).toEqual({ b: ["b1 a1 instead of"] });
    expect(shown([askingFor("a", "ls", "pwd", "ls")], [], held)).toEqual({});
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
