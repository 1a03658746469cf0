import { describe, expect, test } from "vitest";
import { doubtIn } from "../src/card/doubt";
import { Refusal } from "../src/live/api";

const refused = (body: unknown, status = 409) => doubtIn(new Refusal(status, body, "POST /prompt"));

describe("what the daemon asks before it types", () => {
  test("a command is run or sent as text", () => {
    const doubt = refused({ error: "command", message: "…", confirm: "command" });
    expect(doubt?.choices.map((c) => c.how)).toEqual([{ as: "command" }, { as: "text" }]);
  });

  test("a draft is shown with what can be done about it", () => {
    const doubt = refused({ error: "draft", message: "…", draft: "half a thought", choices: ["keep", "replace"] });
    expect(doubt?.draft).toBe("half a thought");
    expect(doubt?.choices.map((c) => c.how)).toEqual([{ draft: "keep" }, { draft: "replace" }]);
    expect(refused({ draft: "x", choices: ["replace"] })?.choices).toHaveLength(1);
  });

  test("anything else is only told", () => {
    expect(refused({ error: "not_idle", message: "…" })).toBeNull();
    expect(refused({ error: "draft", draft: "x" })).toBeNull();
    expect(refused({ draft: "x", choices: ["burn"] })).toBeNull();
    expect(refused({ confirm: "command" }, 404)).toBeNull();
    expect(refused("no")).toBeNull();
    expect(doubtIn(new TypeError("offline"))).toBeNull();
  });
});
