//! The lines an edit takes away and adds. Small inputs get a real line diff, large ones are shown as all-out, all-in.

export type DiffLine = { sign: " " | "-" | "+"; text: string };

/** Above this many lines a side, the table of the diff would cost more than it tells. */
const LCS_LINES_MAX = 400;

export function diffLines(before: string, after: string): DiffLine[] {
  const a = before === "" ? [] : before.split("\n");
  const b = after === "" ? [] : after.split("\n");
  if (a.length > LCS_LINES_MAX || b.length > LCS_LINES_MAX) return [...a.map(taken), ...b.map(added)];
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
      lines.push(taken(left));
      i++;
    } else if (right !== undefined) {
      lines.push(added(right));
      j++;
    }
  }
  return lines;
}

const taken = (text: string): DiffLine => ({ sign: "-", text });
const added = (text: string): DiffLine => ({ sign: "+", text });
const at = (table: number[][], i: number, j: number) => table[i]?.[j] ?? 0;

function longestCommon(a: string[], b: string[]): number[][] {
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i--) {
    const row = table[i] as number[];
    for (let j = b.length - 1; j >= 0; j--) {
      row[j] = a[i] === b[j] ? at(table, i + 1, j + 1) + 1 : Math.max(at(table, i + 1, j), at(table, i, j + 1));
    }
  }
  return table;
}
