import { expect, test } from "vitest";
import { keyedState } from "../src/lib/drafts";

test("a draft is kept by its key, and the least recently used draft is dropped first", () => {
  const draftOf = keyedState("");
  draftOf("a").value = "half a thought";
  draftOf("b").value = "long ago";
  for (let i = 0; i < 499; i++) {
    draftOf("a");
    draftOf(`other ${i}`);
  }
  expect(draftOf("a").value).toBe("half a thought");
  expect(draftOf("b").value).toBe("");
});
