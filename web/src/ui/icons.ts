/**
 * All icons of the page on a 16 px grid with a 1.5 px stroke. The names in the first block come from the
 * wire.
 */

export const ICONS = {
  shield:
    '<path d="M8 1.75 13 3.6v4c0 3.1-2.1 5.4-5 6.65-2.9-1.25-5-3.55-5-6.65v-4zM8 5.25v3.25M8 10.9v.01"/>',
  question:
    '<path d="M8 14a6 6 0 1 0-5.2-3L2 14zM6.3 6.4a1.7 1.7 0 1 1 2.4 1.5c-.5.25-.7.6-.7 1.1M8 11v.01"/>',
  plan: '<path d="M2.5 4 3.6 5.1 5.6 3M2.5 8.5l1.1 1.1 2-2.1M2.6 13h2.6M8 4h5.5M8 8.5h5.5M8 13h5.5"/>',
  pause: '<circle cx="8" cy="8" r="6"/><path d="M6.4 6v4M9.6 6v4"/>',
  triangle: '<path d="M8 2.2 14.2 13.2H1.8zM8 6.6v3M8 11.3v.01"/>',
  spark: '<path d="M8 2a6 6 0 1 1-5.2 3"/><path d="M8 8v.01"/>',
  tool: '<path d="m3 4.5 3.5 3.5L3 11.5M8.5 12H13"/>',
  circle: '<circle cx="8" cy="8" r="5"/>',
  branch:
    '<circle cx="8" cy="3.2" r="1.6"/><circle cx="3.6" cy="12.8" r="1.6"/><circle cx="12.4" cy="12.8" r="1.6"/><path d="M8 4.8v3M3.6 11.2v-1.4a2 2 0 0 1 2-2h4.8a2 2 0 0 1 2 2v1.4"/>',
  fold: '<path d="M8 1.5v4.3M5.8 3.8 8 6l2.2-2.2M8 14.5v-4.3M5.8 12.2 8 10l2.2 2.2M2.5 8h11"/>',
  clock: '<path d="M4 2h8M4 14h8M5 2v2.6L8 8l3-3.4V2M5 14v-2.6L8 8l3 3.4V14"/>',
  check: '<path d="m3 8.6 3.2 3.2L13 4.8"/>',

  server: '<path d="M2.5 2.8h11v4.4h-11zM2.5 8.8h11v4.4h-11zM5 5v.01M5 11v.01"/>',
  laptop: '<path d="M3.5 3h9v7h-9zM1.5 12.8h13"/>',
  container: '<path d="M8 1.8 13.5 5v6L8 14.2 2.5 11V5zM2.5 5 8 8.2 13.5 5M8 8.2v6"/>',
  mark: '<circle cx="8" cy="8" r="6.4"/><path d="M1.6 8h3.6L8 10.6 10.8 8h3.6M8 4.2v.01"/>',
  edit: '<path d="m10.4 2.7 2.9 2.9-7.6 7.6-3.4.5.5-3.4zM8.7 4.4l2.9 2.9"/>',
  form: '<path d="M3.5 2.5h9a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1v-9a1 1 0 0 1 1-1zM5 6h6M5 10h3"/>',
  git: '<circle cx="4.5" cy="3.4" r="1.6"/><circle cx="4.5" cy="12.6" r="1.6"/><circle cx="11.5" cy="5" r="1.6"/><path d="M4.5 5v6M11.5 6.6c0 2.4-2 2.8-3.8 3-1.7.2-3.2.5-3.2 1.4"/>',
  worktree: '<path d="M2 4.2a1 1 0 0 1 1-1h3l1.4 1.6H13a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1z"/>',
  pane: '<path d="M3 3h10a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1zM8.5 3v10"/>',
  warm: '<path d="M8 1.8c.4 2.6 3.8 3.8 3.8 7.4a3.8 3.8 0 0 1-7.6 0c0-1.5.7-2.5 1.5-3.3.2 1 .7 1.5 1.3 1.6C7.3 5.6 7 3.6 8 1.8z"/>',
  cold: '<path d="M8 2v12M2.8 5l10.4 6M13.2 5 2.8 11"/>',
  timer: '<circle cx="8" cy="8" r="6"/><path d="M8 4.8V8l2.2 1.5"/>',
  queue: '<path d="M2.5 4h11M2.5 8h11M2.5 12h5M12 10v4M10 12h4"/>',
  shell:
    '<path d="M3.5 2.8h9a1.2 1.2 0 0 1 1.2 1.2v8a1.2 1.2 0 0 1-1.2 1.2h-9A1.2 1.2 0 0 1 2.3 12V4a1.2 1.2 0 0 1 1.2-1.2zM5 6.2 7 8l-2 1.8M8.6 10H11"/>',
  died: '<circle cx="8" cy="8" r="6"/><path d="m6 6 4 4M10 6l-4 4"/>',
  finished: '<circle cx="8" cy="8" r="6"/><path d="m5.4 8.2 1.8 1.8 3.5-3.7"/>',
  fresh: '<circle cx="8" cy="8" r="6" stroke-dasharray="2.3 2.41"/>',
  offline:
    '<path d="m6.4 9.6.9-.9M9 7l.6-.6M7 4.7l1.4-1.4a3 3 0 0 1 4.3 4.3L11.3 9M9 11.3l-1.4 1.4a3 3 0 0 1-4.3-4.3L4.7 7M2.5 2.5l11 11"/>',
  lock: '<path d="M4 7.2h8v6H4zM5.6 7.2V5.4a2.4 2.4 0 0 1 4.8 0v1.8"/>',
  park: '<path d="M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8z"/>',
  undo: '<path d="M6 3.2 2.8 6.4 6 9.6M2.8 6.4h6.4a3.6 3.6 0 0 1 0 7.2H6"/>',
  x: '<path d="m4 4 8 8M12 4l-8 8"/>',
  search: '<circle cx="7" cy="7" r="4.3"/><path d="m10.2 10.2 3.3 3.3"/>',
  bell: '<path d="M4 11V7a4 4 0 0 1 8 0v4l1.2 1.4H2.8zM6.8 14.4h2.4"/>',
  theme: '<circle cx="8" cy="8" r="6"/><path d="M8 2v12M8 5h4.9M8 8h6M8 11h4.9"/>',
  down: '<path d="M4.5 6.3 8 9.8l3.5-3.5"/>',
  right: '<path d="M6.3 4.5 9.8 8l-3.5 3.5"/>',
  jump: '<path d="M9.5 2.5h4v4M13.5 2.5 8 8M12 9.6v3.9H2.5V4h3.9"/>',
  more: '<path d="M3.5 8v.01M8 8v.01M12.5 8v.01" stroke-width="2.2"/>',
  link: '<path d="m6.4 9.6 3.2-3.2M7 4.7l1.4-1.4a3 3 0 0 1 4.3 4.3L11.3 9M9 11.3l-1.4 1.4a3 3 0 0 1-4.3-4.3L4.7 7"/>',
  group: '<path d="M2.5 3h11v4h-11zM2.5 10h11M2.5 13h11"/>',
  send: '<path d="M8 13V3M3.8 7.2 8 3l4.2 4.2"/>',
  quiet: '<path d="M2 8h4M8.6 8v.01M11.2 8v.01M13.8 8v.01"/>',
  rule: '<path d="M8 1.8 13 3.6v4c0 3.1-2.1 5.4-5 6.6-2.9-1.2-5-3.5-5-6.6v-4zM5.6 8l1.7 1.7 3.1-3.3"/>',
  copy: '<path d="M6 5.5h7v8H6zM10 5.5v-3H3v8h3"/>',
  stop: '<path d="M4 4h8v8H4z"/>',
  file: '<path d="M4 1.8h5l3.2 3.2v9.2H4zM9 1.8V5h3.2"/>',
  model:
    '<path d="M4.5 4.5h7v7h-7zM6.5 2v2.5M9.5 2v2.5M6.5 11.5V14M9.5 11.5V14M2 6.5h2.5M2 9.5h2.5M11.5 6.5H14M11.5 9.5H14"/>',
  you: '<circle cx="8" cy="5.2" r="2.7"/><path d="M2.8 13.8c.6-2.6 2.6-4 5.2-4s4.6 1.4 5.2 4"/>',
  mute: '<path d="M3 6.2h2.3L8.5 3.5v9L5.3 9.8H3zM11 6.2l3 3.6M14 6.2l-3 3.6"/>',
  strip: '<path d="M2 4h6M10 4h4M2 8h3M7 8h7M2 12h9M13 12h1"/>',
  log: '<path d="M5.5 4h8M5.5 8h8M5.5 12h5M2.5 4v.01M2.5 8v.01M2.5 12v.01"/>',
  beat: '<path d="M1.8 8.4h2.8l1.6-4.6 3 8.4 1.7-3.8h3.3"/>',
  handoff: '<path d="M2 5.2h6.2M6 3l2.4 2.2L6 7.4M14 10.8H7.8M10 8.6l-2.4 2.2 2.4 2.2"/>',
  inject: '<path d="M8 2v7M5.2 6.4 8 9.2l2.8-2.8M3 13h10"/>',
  phase: '<path d="M2.5 12.5h3.6V9h3.6V5.5h3.8V2.5"/>',
  entry: '<path d="M3.5 2.5h9v11h-9zM5.8 5.5h4.4M5.8 8h4.4M5.8 10.5h2.4"/>',
  usage: '<path d="M2.5 13.5h11M4 13.5V10M8 13.5V3.5M12 13.5V7"/>',
  asks: '<path d="M3.5 3h9a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H8l-3 2.6V11H3.5a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1zM5.5 7v.01M8 7v.01M10.5 7v.01"/>',
  continued: '<path d="M3 3v4.5a2 2 0 0 0 2 2h8M10 6.5l3 3-3 3"/>',
  sound: '<path d="M3 6.2h2.3L8.5 3.5v9L5.3 9.8H3zM11 6a3 3 0 0 1 0 4M12.8 4.2a5.5 5.5 0 0 1 0 7.6"/>',
} as const;

export type IconName = keyof typeof ICONS;
