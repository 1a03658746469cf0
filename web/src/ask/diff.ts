/** A line diff of an edit. Large inputs are shown as all lines removed, then all lines added. */

export type DiffLine = { sign: " " | "-" | "+"; text: string };

/** Most lines per side for a real diff, because its table grows with the product of both. */
const LCS_LINES_MAX = 400;

export function diffLines(before: string, after: string): DiffLine[] {
  const a = before === "" ? [] : before.split("\n");
  const b = after === "" ? [] : after.split("\n");
  if (a.length > LCS_LINES_MAX || b.length > LCS_LINES_MAX) return [...a.map(removed), ...b.map(added)];
  const common = longestCommon(a, b);
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const left = a[i];
    const right = b[j];
    if (left !== undefined && left === right) {
      lines.push({ sign: " ", text: left });
      i++;
      j++;
    } else if (left !== undefined && (right === undefined || at(common, i + 1, j) >= at(common, i, j + 1))) {
      lines.push(removed(left));
      i++;
    } else if (right !== undefined) {
      lines.push(added(right));
      j++;
    }
  }
  return lines;
}

const removed = (text: string): DiffLine => ({ sign: "-", text });
const added = (text: string): DiffLine => ({ sign: "+", text });
const at = (table: number[][], i: number, j: number) => table[i]?.[j] ?? 0;

function longestCommon(a: string[], b: string[]): number[][] {
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i--) {
    const row = table[i] as number[];
    for (let j = b.length - 1; j >= 0; j--) {
      row[j] =
        a[i] === b[j] ? at(table, i + 1, j + 1) + 1 : Math.max(at(table, i + 1, j), at(table, i, j + 1));
    }
  }
  return table;
}
