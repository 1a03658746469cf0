import { describe, expect, test } from "vitest";
import { promptCheckIn } from "../src/card/promptChecks";
import { Refusal } from "../src/live/api";

const refused = (body: unknown, status = 409) => promptCheckIn(new Refusal(status, body, "POST /prompt"));

describe("questions of the daemon before it types a prompt", () => {
  test("a command can be run or sent as text", () => {
    const doubt = refused({ error: "command", message: "…", confirm: "command" });
    expect(doubt?.choices.map((c) => c.how)).toEqual([{ as: "command" }, { as: "text" }]);
  });

  test("a draft is shown with the possible choices", () => {
    const doubt = refused({
      error: "draft",
      message: "…",
      draft: "half a thought",
      choices: ["keep", "replace"],
    });
    expect(doubt?.draft).toBe("half a thought");
    expect(doubt?.choices.map((c) => c.how)).toEqual([{ draft: "keep" }, { draft: "replace" }]);
    expect(refused({ draft: "x", choices: ["replace"] })?.choices).toHaveLength(1);
  });

  test("other errors are not questions", () => {
    expect(refused({ error: "not_idle", message: "…" })).toBeNull();
    expect(refused({ error: "draft", draft: "x" })).toBeNull();
    expect(refused({ draft: "x", choices: ["burn"] })).toBeNull();
    expect(refused({ confirm: "command" }, 404)).toBeNull();
    expect(refused("no")).toBeNull();
    expect(promptCheckIn(new TypeError("offline"))).toBeNull();
  });
});
