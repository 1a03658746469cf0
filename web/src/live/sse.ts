/**
 * Parses server-sent events from a byte stream. The page does not use EventSource, because it hides retries,
 * the id it resumes from, and heartbeats.
 */

export type SseMessage = { event: string; data: string; id: string | null };

export class SseParser {
  private rest = "";
  private event = "";
  private data: string[] = [];
  private id: string | null = null;

  /** Takes a piece of text of any length and returns the messages it completed. Comments are skipped. */
  push(text: string): SseMessage[] {
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    const done: SseMessage[] = [];
    for (const line of lines) {
      if (line === "") this.finish(done);
      else this.field(line);
    }
    return done;
  }

  private field(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon < 0 ? line : line.slice(0, colon);
    const raw = colon < 0 ? "" : line.slice(colon + 1);
    const value = raw.startsWith(" ") ? raw.slice(1) : raw;
    if (name === "event") this.event = value;
    else if (name === "data") this.data.push(value);
    else if (name === "id" && !value.includes("\0")) this.id = value;
  }

  private finish(done: SseMessage[]): void {
    if (this.data.length > 0 || this.event) {
      done.push({ event: this.event || "message", data: this.data.join("\n"), id: this.id });
    }
    this.event = "";
    this.data = [];
  }
}
