import { expect, test } from "vitest";
import { roleAppearance } from "../src/card/appearance";
import { headline } from "../src/card/headline";
import type { Role } from "../src/generated/Role";
import { session } from "./session";

test("a running card's headline is its tool, the rest is its activity", () => {
  const acting = {
    ...session({ label: "Bash: cargo test" }),
    status: { kind: "working" as const, detail: "Bash", reason: null },
  };
  expect(headline(acting)).toMatchObject({ state: "Bash", rest: "cargo test" });
  expect(headline(session({ label: "Thinking" }))).toMatchObject({ state: "Thinking", rest: null });
});

test("a blocked card without an ask has a short headline and the whole question", () => {
  const blocked = (
    state: "needs_permission" | "awaiting_input" | "awaiting_approval",
    label: string,
    reason: string,
  ) =>
    headline({
      ...session({ group: "needs_you", state, label, kind: "attention_needed" }),
      status: { kind: "attention_needed", detail: null, reason },
    });
  expect(blocked("needs_permission", "Permission for Bash: cargo test", "Permission for Bash")).toMatchObject(
    { state: "Permission for Bash", rest: "cargo test" },
  );
  expect(blocked("awaiting_input", "Old or new?", "AskUserQuestion")).toMatchObject({
    state: "Question",
    rest: "Old or new?",
  });
  expect(blocked("awaiting_approval", "Plan ready", "ExitPlanMode")).toMatchObject({
    state: "Plan ready",
    rest: null,
  });
});

test("an unknown role is drawn as idle", () => {
  expect([roleAppearance("urgent"), roleAppearance("brandnew" as Role)]).toEqual(["blocked", "idle"]);
});
