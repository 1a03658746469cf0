/** The end of a message as one line of plain text, split before its last sentence. */

export type LastWords = { lead: string; last: string };

/** About three lines of a card. */
const CHARS_MAX = 260;

export function lastWords(markdown: string): LastWords {
  const text = plainText(markdown);
  const start = lastSentenceStart(text);
  const last = text.slice(start);
  const room = CHARS_MAX - last.length;
  return { lead: shortenFront(text.slice(0, start).trim(), room), last };
}

/** Marks of Markdown would only disturb on a card. */
export const plainText = (markdown: string): string =>
  markdown
    .replace(/^\s*```.*$/gm, "")
    .replace(/^\s*(?:#{1,6}|[-*+]|>)\s+/gm, "")
    .replace(/\*\*|__|`/g, "")
    .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replace(/\s+/g, " ")
    .trim();

/** A sentence begins after a mark that ends one and a space. */
function lastSentenceStart(text: string): number {
  const ends = [...text.matchAll(/[.!?:…。？！][)"'”’]?\s+(?=\S)/g)];
  const end = ends.at(-1);
  return end ? end.index + end[0].length : 0;
}

/** Keeps the end, from the beginning of a word. */
function shortenFront(text: string, room: number): string {
  if (text.length <= room) return text;
  if (room < 20) return "";
  const tail = text.slice(text.length - room);
  return `…${tail.slice(tail.indexOf(" "))}`;
}
