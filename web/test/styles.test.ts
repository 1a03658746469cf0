import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (folder: string, ending: RegExp): string =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => ending.test(name))
    .map((name) => readFileSync(`${folder}/${name}`, "utf8"))
    .join("\n");

test("every custom property that a stylesheet reads is set somewhere", () => {
  const styles = read("src/styles", /\.css$/);
  const used = [...styles.matchAll(/var\((--[\w-]+)/g)].map(([, name]) => name);
  const inStyles = [...styles.matchAll(/(--[\w-]+)\s*:/g)].map(([, name]) => name);
  const inCode = [...read("src", /\.tsx?$/).matchAll(/"(--[\w-]+)"/g)].map(([, name]) => name);
  const set = new Set([...inStyles, ...inCode]);
  expect([...new Set(used)].filter((name) => !set.has(name))).toEqual([]);
});
