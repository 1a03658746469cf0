/**
 * A small Markdown renderer for plans and messages: headings, lists, tables, code, bold. It creates elements,
 * never HTML text.
 */
import type { ComponentChildren } from "preact";

type Block =
  | { kind: "heading"; text: string }
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "table"; rows: string[][] }
  | { kind: "list"; ordered: boolean; items: Item[] };

/** `mark` is the number or dot before the item; an item inside another has a greater depth. */
export type Item = { mark: string; depth: number; text: string };

const ITEM = /^(\s*)(?:([-*+])|(\d+)[.)])\s+(.*)$/;
/** White space of one level, in columns. */
const INDENT = 2;
const DEPTH_MAX = 4;

const ROW = /^\s*\|(.+)\|\s*$/;
/** The line between table head and body. The first row is the head even without it. */
const RULE = /^[\s:|-]+$/;
const cells = (row: string) => row.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));

export function parseBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  let fence: string[] | null = null;
  for (const line of markdown.split("\n")) {
    if (/^\s*```/.test(line)) {
      if (fence) blocks.push({ kind: "code", text: fence.join("\n") });
      fence = fence ? null : [];
    } else if (fence) fence.push(line);
    else addLine(blocks, line);
  }
  if (fence) blocks.push({ kind: "code", text: fence.join("\n") });
  return blocks.filter((block) => block.kind !== "text" || block.text !== "");
}

function addLine(blocks: Block[], line: string): void {
  const last = blocks.at(-1);
  const item = ITEM.exec(line);
  const heading = /^#{1,6}\s+(.*)$/.exec(line);
  const row = ROW.exec(line)?.[1];
  if (row !== undefined) {
    if (last?.kind !== "table") blocks.push({ kind: "table", rows: [cells(row)] });
    else if (!RULE.test(row)) last.rows.push(cells(row));
  } else if (item) addItem(blocks, item);
  else if (heading) blocks.push({ kind: "heading", text: heading[1] ?? "" });
  else if (line.trim() === "") blocks.push({ kind: "text", text: "" });
  else if (last?.kind === "list" && /^\s/.test(line)) addToLastItem(last.items, line.trim());
  else if (last?.kind === "text" && last.text !== "") last.text += ` ${line.trim()}`;
  else blocks.push({ kind: "text", text: line.trim() });
}

/** Items of one list follow each other, also with an empty line between them or inner lists. */
function addItem(blocks: Block[], [, space = "", , number, text = ""]: RegExpExecArray): void {
  const ordered = number !== undefined;
  const depth = Math.min(DEPTH_MAX, Math.floor(space.replaceAll("\t", "    ").length / INDENT));
  if (blocks.at(-1)?.kind === "text" && (blocks.at(-1) as { text: string }).text === "") {
    const before = blocks.at(-2);
    if (before?.kind === "list" && (depth > 0 || before.ordered === ordered)) blocks.pop();
  }
  const last = blocks.at(-1);
  const list = last?.kind === "list" && (depth > 0 || last.ordered === ordered) ? last : null;
  const item = {
    mark: ordered ? `${numberAfter(list?.items ?? [], depth, Number(number))}.` : "•",
    depth,
    text,
  };
  if (list) list.items.push(item);
  else blocks.push({ kind: "list", ordered, items: [item] });
}

/** Numbers count on from the item before; the first has the number that was written. */
function numberAfter(items: Item[], depth: number, written: number): number {
  const before = items.findLast((item) => item.depth <= depth);
  const counted = before?.depth === depth ? Number.parseInt(before.mark, 10) : Number.NaN;
  return Number.isNaN(counted) ? written : Math.max(counted + 1, written);
}

function addToLastItem(items: Item[], text: string): void {
  const last = items.at(-1);
  if (last) last.text += ` ${text}`;
}

function inline(text: string): ComponentChildren {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part, i) => {
    if (part.startsWith("`") && part.length > 2) return <code key={i}>{part.slice(1, -1)}</code>;
    if (part.startsWith("**") && part.length > 4) return <b key={i}>{part.slice(2, -2)}</b>;
    return part;
  });
}

export function Markdown({ text }: { text: string }) {
  return (
    <div class="md">
      {parseBlocks(text).map((block, i) => {
        if (block.kind === "heading") return <h4 key={i}>{inline(block.text)}</h4>;
        if (block.kind === "code") return <pre key={i}>{block.text}</pre>;
        if (block.kind === "table") return <Table key={i} rows={block.rows} />;
        if (block.kind === "text") return <p key={i}>{inline(block.text)}</p>;
        const items = block.items.map((item, k) => (
          <li key={k} data-mark={item.mark} data-depth={item.depth || undefined}>
            <span>{inline(item.text)}</span>
          </li>
        ));
        return block.ordered ? <ol key={i}>{items}</ol> : <ul key={i}>{items}</ul>;
      })}
    </div>
  );
}

function Table({ rows: [head = [], ...rest] }: { rows: string[][] }) {
  return (
    <table>
      <thead>
        <tr>
          {head.map((cell, i) => (
            <th key={i}>{inline(cell)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rest.map((row, k) => (
          <tr key={k}>
            {row.map((cell, i) => (
              <td key={i}>{inline(cell)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
