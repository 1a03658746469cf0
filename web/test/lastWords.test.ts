import { expect, test } from "vitest";
import { lastWords, plainText } from "../src/card/lastWords";

test("the last sentence is split off, without marks of Markdown", () => {
  expect(lastWords("Both pass on the **copy**. Drop `amount` now?")).toEqual({
    lead: "Both pass on the copy.",
    last: "Drop amount now?",
  });
  expect(lastWords("Done")).toEqual({ lead: "", last: "Done" });
  expect(plainText("# Title\n- one\n- [two](http://x)\n```\ncode\n```")).toBe("Title one two code");
});

test("a long message is cut at its beginning and keeps its last sentence", () => {
  const { lead, last } = lastWords(`${"A long sentence about the work. ".repeat(20)}Shall I go on?`);
  expect(last).toBe("Shall I go on?");
  expect(lead).toMatch(/^… /);
  expect(lead.length + last.length).toBeLessThanOrEqual(262);
});
