/**
 * Makes the picture of the TUI from a real terminal:
 *   tmux capture-pane -e -p -t PANE | node docs/pictures/tui.mjs > docs/pictures/tui-dark.svg
 * Reads text with SGR sequences, as tmux writes them: 16 colours, bold, dim and reverse. Each run of a style is one
 * <text> that is stretched to its columns, so that every font keeps the grid.
 */
import { readFileSync } from "node:fs";

const CELL = { width: 8.4, height: 18 };
const FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
const COLOURS = [
  "#3b4048", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#abb2bf",
  "#5c6370", "#ff7b86", "#b5e890", "#ffd866", "#7cc4ff", "#d7a1f0", "#7fdbe8", "#ffffff",
];
const BACK = "#16181d";
const FORE = "#d7dae0";

/** Columns of a character: CJK, kana, Hangul, fullwidth forms and emoji take two. */
const columns = (c) => (/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(c) ? 2 : 1);
const escaped = (text) => text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);

function apply(style, codes) {
  const indexed = codes[0] === 38 && codes[1] === 5;
  if (indexed) style.fg = codes[2];
  for (const code of indexed ? [] : codes.length ? codes : [0]) {
    if (code === 0) Object.assign(style, { fg: null, bold: false, dim: false, reverse: false });
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 7) style.reverse = true;
    else if (code === 22) Object.assign(style, { bold: false, dim: false });
    else if (code === 27) style.reverse = false;
    else if (code >= 30 && code <= 37) style.fg = code - 30;
    else if (code >= 90 && code <= 97) style.fg = code - 82;
    else if (code === 39) style.fg = null;
  }
}

/** The runs of one style of a line: text, first column, width. */
function runs(line, style) {
  const found = [];
  let column = 0;
  for (const [, codes, text] of line.matchAll(/\x1b\[([\d;]*)m|([^\x1b]+)/g)) {
    if (text === undefined) apply(style, codes.split(";").filter(Boolean).map(Number));
    else {
      const wide = [...text].reduce((sum, c) => sum + columns(c), 0);
      found.push({ text, column, wide, ...style });
      column += wide;
    }
  }
  return found;
}

const lines = readFileSync(0, "utf8").replace(/\n$/, "").split("\n");
const style = { fg: null, bold: false, dim: false, reverse: false };
const rows = lines.map((line) => runs(line, style));
const across = Math.max(...rows.flat().map((run) => run.column + run.wide));
const [width, height] = [Math.ceil(across * CELL.width) + 16, lines.length * CELL.height + 16];
const out = [
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="${FONT}" font-size="14">`,
  `<rect width="${width}" height="${height}" rx="8" fill="${BACK}"/>`,
];
rows.forEach((row, y) => {
  for (const run of row.filter((run) => run.reverse || run.text.trim())) {
    const x = (8 + run.column * CELL.width).toFixed(1);
    const wide = (run.wide * CELL.width).toFixed(1);
    const [fill, back] = [run.fg === null ? FORE : COLOURS[run.fg], BACK];
    if (run.reverse) out.push(`<rect x="${x}" y="${8 + y * CELL.height}" width="${wide}" height="${CELL.height}" fill="${fill}"/>`);
    const more = (run.bold ? ' font-weight="700"' : "") + (run.dim ? ' opacity=".6"' : "");
    out.push(
      `<text x="${x}" y="${8 + y * CELL.height + 13.5}" textLength="${wide}" lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill="${run.reverse ? back : fill}"${more}>${escaped(run.text)}</text>`,
    );
  }
});
console.log([...out, "</svg>"].join("\n"));
