/** Formats numbers and times for people. */

/** 0:09, 12:40, then "1 h 5 min", "3 d 2 h": above an hour, seconds are left out. */
export function duration(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 3600) return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;
  const min = Math.floor(s / 60);
  if (min < 1440) return min % 60 ? `${Math.floor(min / 60)} h ${min % 60} min` : `${min / 60} h`;
  const h = Math.floor(min / 60);
  return h % 24 ? `${Math.floor(h / 24)} d ${h % 24} h` : `${h / 24} d`;
}

/** For totals: "22 min", "1 h 8 min", "none". */
export function roundedDuration(ms: number): string {
  if (ms < 30_000) return ms < 1000 ? "none" : `${Math.round(ms / 1000)} s`;
  const min = Math.max(1, Math.round(ms / 60_000));
  return min < 100 ? `${min} min` : min % 60 ? `${Math.floor(min / 60)} h ${min % 60} min` : `${min / 60} h`;
}

/** How long something lasted: a total, but "0 s" instead of "none". */
export const lastedText = (ms: number): string => (ms < 1000 ? "0 s" : roundedDuration(ms));

export function ago(ms: number): string {
  if (ms < 1000) return "just now";
  if (ms < 60_000) return `${Math.floor(ms / 1000)} s ago`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ago`;
  return `${duration(ms)} ago`;
}

export function usd(micros: number): string {
  if (micros > 0 && micros < 5_000) return "<$0.01";
  const dollars = micros / 1e6;
  return dollars >= 1000 ? `$${Math.round(dollars).toLocaleString("en-US")}` : `$${dollars.toFixed(2)}`;
}

export function tokens(n: number): string {
  if (n >= 1_000_000) return `${trim(n / 1_000_000)}M`;
  if (n >= 1_000) return `${trim(n / 1_000)}k`;
  return String(n);
}

const trim = (n: number) => (n >= 100 ? String(Math.round(n)) : n.toFixed(1).replace(/\.0$/, ""));

/** "claude-opus-5-5-20261101" → "Opus 5.5"; other names are shown unchanged. */
export function modelName(id: string): string {
  const found = /^claude-([a-z]+)-(\d+)(?:-(\d{1,2}))?(?:-\d{6,8})?(?:\[.*\])?$/.exec(id);
  if (!found) return id;
  const [, family = "", major, minor] = found;
  return `${family[0]?.toUpperCase()}${family.slice(1)} ${major}${minor ? `.${minor}` : ""}`;
}

export function clockTime(ms: number, seconds = false): string {
  const d = new Date(ms);
  const two = (n: number) => String(n).padStart(2, "0");
  const hm = `${two(d.getHours())}:${two(d.getMinutes())}`;
  return seconds ? `${hm}:${two(d.getSeconds())}` : hm;
}

/** Turns a wire word into text: needs_permission → "Needs permission". */
export function humanize(wire: string): string {
  const spaced = wire.replace(/_/g, " ");
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

export const plural = (n: number, one: string, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;
