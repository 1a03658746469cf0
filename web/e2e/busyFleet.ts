/**
 * A large busy fleet: every session repeats the same turn, one hook at a time, each at a different position
 * in it.
 */
import { postHook } from "./daemon";

const tool = (command: string) => ({ tool_name: "Bash", tool_input: { command } });

/**
 * One turn: a prompt, a tool call, a call that asks for permission, and the end. Every hook changes the card.
 */
const TURN: [string, (turn: number) => Record<string, unknown>][] = [
  ["UserPromptSubmit", (turn) => ({ prompt: `Round ${turn}: tidy the totals of the store` })],
  ["PreToolUse", (turn) => ({ ...tool("cargo test --workspace"), tool_use_id: `a${turn}` })],
  ["PostToolUse", (turn) => ({ ...tool("cargo test --workspace"), tool_use_id: `a${turn}` })],
  ["PermissionRequest", (turn) => tool(`make release-${turn}`)],
  ["PostToolUse", (turn) => ({ ...tool(`make release-${turn}`), tool_use_id: `b${turn}` })],
  ["Stop", () => ({ last_assistant_message: "The totals are rounded." })],
];

/** Most hooks in flight. If more are waiting, the daemon does not keep up and the measured rate drops. */
const UNDER_WAY_MAX = 64;

export class BusyFleet {
  private readonly places: number[];
  private next = 0;

  constructor(
    private readonly url: string,
    sessions: number,
  ) {
    this.places = Array.from({ length: sessions }, (_, i) => i % TURN.length);
  }

  /** Starts all sessions, spread over the turn. */
  async begin(): Promise<void> {
    const together = 16;
    for (let i = 0; i < this.places.length; i += together) {
      await Promise.all(this.places.slice(i, i + together).map((place, k) => this.start(i + k, place)));
    }
  }

  /** Sends hooks at this rate until aborted, and catches up after a late timer. */
  async play(perSecond: number, until: AbortSignal): Promise<void> {
    const began = performance.now();
    const underWay = new Set<Promise<void>>();
    let sent = 0;
    while (!until.aborted) {
      const due = Math.floor(((performance.now() - began) / 1000) * perSecond);
      for (; sent < due && underWay.size < UNDER_WAY_MAX; sent++) {
        const one: Promise<void> = this.step().finally(() => underWay.delete(one));
        underWay.add(one);
      }
      await new Promise((soon) => setTimeout(soon, 10));
    }
    await Promise.all(underWay);
  }

  private async start(i: number, place: number): Promise<void> {
    await this.hook(i, "SessionStart", {
      source: "startup",
      model: i % 3 ? "claude-opus-5-5" : "claude-haiku-5",
    });
    for (let at = 0; at < place; at++) await this.turn(i, at);
  }

  /** Round robin: hooks of one session are seconds apart, so they stay in order. */
  private step(): Promise<void> {
    const i = this.next++ % this.places.length;
    const at = this.places[i] ?? 0;
    this.places[i] = at + 1;
    return this.turn(i, at);
  }

  private async turn(i: number, at: number): Promise<void> {
    const [name, fields] = TURN[at % TURN.length] ?? ["Stop", () => ({})];
    await this.hook(i, name, fields(Math.floor(at / TURN.length)));
  }

  private async hook(i: number, hook_event_name: string, fields: Record<string, unknown>): Promise<void> {
    const session_id = `${i.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;
    await postHook(this.url, {
      session_id,
      hook_event_name,
      cwd: `/home/dev/project-${i % 20}`,
      transcript_path: `/home/dev/none/${session_id}.jsonl`,
      ...fields,
    });
  }
}
