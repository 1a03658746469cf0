import { expect, test } from "vitest";
import { kept } from "../src/lib/kept";

test("what was typed is there for the next box with the same key, and what is in use is forgotten last", () => {
  const draftOf = kept("");
  draftOf("a").value = "half a thought";
  draftOf("b").value = "long ago";
  for (let i = 0; i < 499; i++) {
    draftOf("a");
    draftOf(`other ${i}`);
  }
  expect(draftOf("a").value).toBe("half a thought");
  expect(draftOf("b").value).toBe("");
});
