import { expect, test } from "vitest";
import { content, defaultValues, fieldsOf, isComplete } from "../src/ask/form";

const schema = {
  type: "object",
  required: ["name", "fast", "size"],
  properties: {
    name: { type: "string", title: "Name" },
    fast: { type: "boolean" },
    size: { type: "integer", enum: [1, 2] },
    colour: { type: "string", oneOf: [{ const: "r", title: "Red" }] },
    tags: { type: "array", items: { type: "string", enum: ["a", "b"] } },
    retries: { type: "integer", default: 3 },
  },
};

test("each field of a form gets its control, and a choice keeps its own type", () => {
  expect(fieldsOf(schema).map((f) => f.kind)).toEqual(["text", "boolean", "one", "one", "many", "number"]);
  expect(fieldsOf(schema)[2]?.choices).toEqual([
    { value: 1, label: "1" },
    { value: 2, label: "2" },
  ]);
  expect(fieldsOf(schema)[3]?.choices).toEqual([{ value: "r", label: "Red" }]);
  expect(fieldsOf(null)).toEqual([]);
});

test("a form starts with its defaults, and an unticked required box is false", () => {
  expect(defaultValues(schema)).toEqual({ fast: false, retries: 3 });
  expect(isComplete(fieldsOf(schema), defaultValues(schema))).toBe(false);
  expect(isComplete(fieldsOf(schema), { ...defaultValues(schema), name: "x", size: 1 })).toBe(true);
});

test("empty fields are not sent", () => {
  expect(content({ name: "x", colour: undefined, note: "", tags: [], fast: false, size: 0 })).toEqual({
    name: "x",
    fast: false,
    size: 0,
  });
});
