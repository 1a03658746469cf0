import { expect, test } from "vitest";
import { rowText } from "../src/card/rowText";
import type { Ask } from "../src/generated/Ask";
import type { Session } from "../src/generated/Session";
import { session } from "./session";

const asking = (kind: Ask["kind"], tool_name: string, tool_input: Record<string, unknown>): Session => ({
  ...session({ id: "a", group: "needs_you" }),
  asks: [
    {
      id: "ask",
      session_id: "a",
      agent_id: null,
      kind,
      tool_name,
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
    },
  ],
});

const line = (input: Session) => {
  const { what, text, whole } = rowText(input);
  return [what, text, whole];
};

test("a line has the whole of a short command, but not of one with more lines or other fields", () => {
  const bash = (input: Record<string, unknown>) => line(asking("permission", "Bash", input));
  expect(bash({ command: "make", description: "Builds it" })).toEqual(["Bash", "make", true]);
  expect(bash({ command: "make\nrm -r out" })).toEqual(["Bash", "make", false]);
  expect(bash({ command: "make", timeout: 5 })).toEqual(["Bash", "make", false]);
});

test("an only value needs no name, several values have theirs", () => {
  expect(line(asking("permission", "Read", { file_path: "/a/b.rs" }))).toEqual(["Read", "/a/b.rs", true]);
  expect(line(asking("permission", "WebFetch", { url: "https://a.b", prompt: "sum" }))).toEqual([
    "WebFetch",
    "url: https://a.b prompt: sum",
    true,
  ]);
});

test("an edit and a plan are never whole in a line, and a plan is named once", () => {
  const edit = { file_path: "/home/dev/src/a.rs", old_string: "a", new_string: "b" };
  expect(line(asking("permission", "Edit", edit))).toEqual(["Edit", "src/a.rs", false]);
  expect(line(asking("plan", "ExitPlanMode", { plan: "# Plan\n1. Add the sink" }))).toEqual([
    "Plan",
    "1. Add the sink",
    false,
  ]);
});

test("a permission that only its terminal can answer begins with the tool, as all others do", () => {
  const blocked: Session = {
    ...session({ id: "a", group: "needs_you" }),
    waiting: { kind: "blocks", label: "Permission", icon: "shield", counts: true },
  };
  blocked.agent_state.label = "Permission for Bash: make";
  const [what, text] = line(blocked);
  expect(`${what} ${text}`).not.toContain("Permission for");
});
