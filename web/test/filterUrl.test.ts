import { expect, test } from "vitest";
import { filterFrom, searchWith } from "../src/board/filterUrl";

test("a filter survives the way through the address, beside other parameters", () => {
  const filter = {
    text: "cargo test",
    host: [],
    project: ["api", "a&b"],
    branch: [],
    state: ["idle"],
    model: [],
  };
  const search = searchWith("?theme=light&q=old", filter);
  expect(search).toContain("theme=light");
  expect(filterFrom(search)).toEqual(filter);
  expect(searchWith(search, filterFrom(""))).toBe("?theme=light");
});
