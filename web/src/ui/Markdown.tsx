/**
 * A small Markdown renderer for plans and messages: headings, lists, tables, quotes, code, bold. It creates
 * elements, never HTML text.
 */
import type { ComponentChildren } from "preact";

type Block =
  | { kind: "heading"; text: string }
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "quote"; text: string }
  | { kind: "table"; rows: string[][] }
  | { kind: "list"; ordered: boolean; items: Item[] };

/** `mark` is the number or dot before the item; an item inside another has a greater depth. */
export type Item = { mark: string; depth: number; text: string };

const ITEM = /^(\s*)(?:([-*+])|(\d+)[.)])\s+(.*)$/;
/** White space of one level, in columns. */
const INDENT = 2;
const DEPTH_MAX = 4;

/** A quote in a quote is one quote, so that no text nests deeply. */
const QUOTE = /^(?:\s*>)+\s?(.*)$/;
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
  const quote = QUOTE.exec(line)?.[1];
  if (row !== undefined) {
    if (last?.kind !== "table") blocks.push({ kind: "table", rows: [cells(row)] });
    else if (!RULE.test(row)) last.rows.push(cells(row));
  } else if (quote !== undefined) {
    if (last?.kind === "quote") last.text += `\n${quote}`;
    else blocks.push({ kind: "quote", text: quote });
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

export const Markdown = ({ text }: { text: string }) => (
  <div class="md">
    <Blocks text={text} />
  </div>
);

const Blocks = ({ text }: { text: string }) => (
  <>
    {parseBlocks(text).map((block, i) => (
      <BlockView key={i} block={block} />
    ))}
  </>
);

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case "heading":
      return <h4>{inline(block.text)}</h4>;
    case "code":
      return <pre>{block.text}</pre>;
    case "quote":
      return (
        <blockquote>
          <Blocks text={block.text} />
        </blockquote>
      );
    case "table":
      return <Table rows={block.rows} />;
    case "text":
      return <p>{inline(block.text)}</p>;
    case "list":
      return <List ordered={block.ordered} items={block.items} />;
  }
}

function List({ ordered, items }: { ordered: boolean; items: Item[] }) {
  const rows = items.map((item, i) => (
    <li key={i} data-mark={item.mark} data-depth={item.depth || undefined}>
      <span>{inline(item.text)}</span>
    </li>
  ));
  return ordered ? <ol>{rows}</ol> : <ul>{rows}</ul>;
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
