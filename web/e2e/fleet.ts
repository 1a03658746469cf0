/**
 * Test fixtures: a page, a daemon, and sessions that are driven by hook payloads as Claude Code sends them.
 */
import { test as base, expect, type Locator, type Page } from "@playwright/test";
import type { Session } from "../src/generated/Session";
import type { Snapshot } from "../src/generated/Snapshot";
import { demoDaemon, emptyDaemon, hookedDaemon, postHook, type TestDaemon } from "./daemon";
import { CuttableProxy } from "./proxy";
import { startRestingFleet } from "./restingFleet";
import { servePage } from "./servePage";

export type Column = "Needs You" | "Running" | "Done";
export const GROUPS = { "Needs You": "needs_you", Running: "running", Done: "done" } as const;

/**
 * empty: a daemon without hooks and sessions. hooked: a daemon that registers its hooks. resting: 54 sessions
 * that do not change, shared by the tests of a worker. demo: the simulated fleet.
 */
export type FleetKind = "empty" | "hooked" | "resting" | "demo";

export type Verdict = {
  hookSpecificOutput: {
    decision: {
      behavior: string;
      message?: string;
      interrupt?: boolean;
      updatedInput?: Record<string, unknown>;
      updatedPermissions?: unknown[];
    };
  };
};

/**
 * How long the page shows a toast (`ui/toast.tsx`), and how long it holds a card under a resting pointer
 * (`board/cardHold.ts`).
 */
export const TOAST_MS = 5_000;
export const HOLD_IDLE_MS = 8_000;
/** After this time without data the page says that the daemon is not heard (`live/stream.ts`). */
export const SILENCE_MS = 3_200;
/** How long the second key after g or p is awaited (`keys/shortcuts.ts`). */
export const PREFIX_MS = 1_500;
/** How far the page's clock is set ahead before it stops: more than a busy machine can be late. */
const AHEAD_MS = 20_000;
const FRAME_MS = 20;

export class Fleet {
  private count = 0;
  constructor(
    readonly server: TestDaemon,
    readonly page: Page,
  ) {}

  async hook(id: string, hook_event_name: string, fields: Record<string, unknown> = {}): Promise<void> {
    await postHook(this.server.url, {
      session_id: id,
      hook_event_name,
      cwd: "/home/dev/api",
      transcript_path: `/home/dev/none/${id}.jsonl`,
      ...fields,
    });
  }

  /** Starts a session with a prompt; it is thinking. */
  async start(prompt = "fix the build", fields: Record<string, unknown> = {}): Promise<string> {
    const id = `00000000-0000-4000-8000-${String(++this.count).padStart(12, "0")}`;
    await this.hook(id, "SessionStart", { source: "startup", model: "claude-opus-5-5", ...fields });
    await this.hook(id, "UserPromptSubmit", { prompt, ...fields });
    return id;
  }

  /** The session asks for a permission and waits. */
  async block(id: string, command: string): Promise<void> {
    const call = { tool_name: "Bash", tool_input: { command }, tool_use_id: `toolu_${id}_${command}` };
    await this.hook(id, "PreToolUse", call);
    await this.hook(id, "PermissionRequest", { tool_name: "Bash", tool_input: { command } });
  }

  /** A tool call that asks for permission. The promise is the response that the waiting hook gets. */
  ask(
    id: string,
    tool_name: string,
    tool_input: Record<string, unknown>,
    fields: Record<string, unknown> = {},
  ): Promise<Verdict> {
    const send = async () => {
      await this.hook(id, "PreToolUse", { tool_name, tool_input, tool_use_id: `toolu_${id}` });
      const payload = {
        session_id: id,
        hook_event_name: "PermissionRequest",
        cwd: "/home/dev/api",
        tool_name,
        tool_input,
        ...fields,
      };
      return (await (
        await postHook(this.server.url, payload, { "x-flightdeck-hold": "1" })
      ).json()) as Verdict;
    };
    const verdict = send();
    // If a test does not answer, the request stays open until the server stops.
    verdict.catch(() => undefined);
    return verdict;
  }

  /** Tool calls of one session that ask at the same time. */
  async askAtOnce(id: string, commands: string[]): Promise<Promise<Verdict>[]> {
    const calls = commands.map((command) => ({ tool_name: "Bash", tool_input: { command } }));
    for (const [i, call] of calls.entries())
      await this.hook(id, "PreToolUse", { ...call, tool_use_id: `${id}-${i}` });
    return calls.map((call) => {
      const payload = {
        session_id: id,
        hook_event_name: "PermissionRequest",
        cwd: "/home/dev/api",
        ...call,
      };
      const verdict = postHook(this.server.url, payload, { "x-flightdeck-hold": "1" }).then(
        async (reply) => (await reply.json()) as Verdict,
      );
      verdict.catch(() => undefined);
      return verdict;
    });
  }

  async board(): Promise<Snapshot> {
    return (await (await fetch(`${this.server.url}api/sessions`)).json()) as Snapshot;
  }

  async sessions(): Promise<Session[]> {
    return (await this.board()).sessions;
  }

  async open(hash = "", through = this.server.url): Promise<void> {
    await this.page.goto(`${through}${hash}`);
    await expect(this.page.locator("[data-connection=live]")).toBeAttached();
    if ((await this.sessions()).length > 0)
      await expect(this.page.locator("[data-card], .row-name, .log-row, .effort-row").first()).toBeAttached();
  }

  /** Waits until all animations ended, except endless ones. */
  async waitForAnimations(): Promise<void> {
    const moving = () =>
      this.page.evaluate(
        () =>
          document
            .getAnimations()
            .filter((a) => a.effect?.getComputedTiming().iterations !== Infinity && a.playState === "running")
            .length,
      );
    await expect.poll(moving).toBe(0);
  }

  /** Waits until every card accepts answer keys after a move. */
  async waitForKeys(): Promise<void> {
    await expect(this.page.locator("[data-moved], [data-fresh]")).toHaveCount(0);
  }

  /** Selects a card by its focus, as n, j and k do. */
  async select(id: string): Promise<void> {
    await this.card(id).focus();
    await expect(this.card(id)).toHaveAttribute("aria-current", "true");
  }

  /** The line that says which key did nothing, and why. */
  refusal(): Locator {
    return this.page.locator(".key-refused");
  }

  /**
   * Call before the page opens. Timers of this length never fire, so a slow machine cannot miss what they
   * would end.
   */
  async disableTimer(
    ms: typeof TOAST_MS | typeof HOLD_IDLE_MS | typeof SILENCE_MS | typeof PREFIX_MS,
  ): Promise<void> {
    await this.page.addInitScript((ms) => {
      const { setTimeout } = window;
      const never = 86_400_000;
      Object.assign(window, {
        setTimeout: (act: TimerHandler, after?: number, ...args: unknown[]) =>
          setTimeout(act, after === ms ? never : after, ...args),
      });
    }, ms);
  }

  /** Stops the page's clock; only `pollFrames` advances it. Needs `page.clock.install()`. */
  async freezeClock(): Promise<void> {
    await this.page.clock.pauseAt((await this.page.evaluate(() => Date.now())) + AHEAD_MS);
  }

  /** Polls `read`, advancing the page's clock by one frame before each read. */
  pollFrames<T>(read: () => Promise<T>) {
    return expect.poll(
      async () => {
        await this.page.clock.runFor(FRAME_MS);
        return read();
      },
      { intervals: [100, 250, 500, 1_000] },
    );
  }

  card(id: string): Locator {
    return this.page.locator(`[data-card="${id}"]`);
  }

  column(name: Column): Locator {
    return this.page.getByRole("region", { name, exact: true });
  }

  cardIn(name: Column, id: string): Locator {
    return this.column(name).locator(`[data-card="${id}"]`);
  }

  /**
   * The session ids of each card that stands for several sessions, its own first. A session that asks something else
   * too has a card of its own and is left out.
   */
  bunches(): Promise<string[][]> {
    return this.page.locator(".bunch").evaluateAll((bunches) =>
      bunches.map((bunch) => {
        const chips = Array.from(
          bunch.querySelectorAll<HTMLAnchorElement>("a.chip"),
          (chip) => chip.href.split("/").at(-1) ?? "",
        );
        const folded = chips.filter((id) => !document.querySelector(`[data-card="${CSS.escape(id)}"]`));
        return [(bunch as HTMLElement).dataset.card ?? "", ...new Set(folded)];
      }),
    );
  }

  /** The cards of each column from top to bottom as "id label", read at one moment. */
  shown(): Promise<string[][]> {
    return this.page
      .locator("section.column")
      .evaluateAll((columns) =>
        columns.map((column) =>
          Array.from(
            column.querySelectorAll<HTMLElement>("[data-card]"),
            (c) => `${c.dataset.card} ${c.getAttribute("aria-label")?.split(": ").slice(1).join(": ")}`,
          ),
        ),
      );
  }
}

/** Expects these errors in the page's log and no others, and clears the log. */
export async function logged(errors: string[], ...parts: string[]): Promise<void> {
  await expect.poll(() => errors).toEqual(parts.map((part) => expect.stringContaining(part)));
  errors.splice(0);
}

/** The Allow button of a card. */
export const allow = (card: Locator) => card.getByRole("button", { name: /^Allow/ });

/** Input of AskUserQuestion, with a comma in a label. */
export const questions = [
  {
    question: "Which way?",
    header: "Way",
    multiSelect: false,
    options: [
      { label: "Left", description: "shorter" },
      { label: "Right, then left", description: "safer" },
    ],
  },
];

export const COLUMNS: Column[] = ["Needs You", "Running", "Done"];

/** The expected cards of one column as "id label", from the API's sessions. */
export function wantedIn(
  sessions: Session[],
  column: Column,
  sort: "default" | "urgency" | "waiting" = "default",
): string[] {
  const members = sessions.filter((s) => s.agent_state.group === GROUPS[column]);
  members.sort((a, b) =>
    a.rank[sort] < b.rank[sort] ? -1 : a.rank[sort] > b.rank[sort] ? 1 : a.id < b.id ? -1 : 1,
  );
  return members.map((s) => `${s.id} ${s.agent_state.label}`);
}

type Options = { fleetKind: FleetKind; sessions: number };
type Own = { fleet: Fleet; errors: string[]; daemonProxy: CuttableProxy };

export const test = base.extend<Options & Own, { resting: () => Promise<TestDaemon> }>({
  fleetKind: ["empty", { option: true }],
  sessions: [0, { option: true }],
  /** Started by the first test of a worker that uses it. */
  resting: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures it needs from this pattern.
    async ({}, use) => {
      let started: Promise<TestDaemon> | undefined;
      await use(
        () =>
          (started ??= emptyDaemon().then(async (daemon) => {
            await startRestingFleet(daemon.url);
            return daemon;
          })),
      );
      await (await started)?.stop();
    },
    { scope: "worker" },
  ],
  // A test fails if the page logs an error or violates its CSP.
  errors: async ({ page }, use) => {
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on(
      "console",
      (message) =>
        message.type() === "error" && !/net::ERR/.test(message.text()) && errors.push(message.text()),
    );
    await use(errors);
    expect(errors).toEqual([]);
  },
  fleet: async ({ page, fleetKind, sessions, errors, resting }, use) => {
    void errors;
    await servePage(page);
    const shared = fleetKind === "resting";
    const server = shared
      ? await resting()
      : fleetKind === "demo"
        ? await demoDaemon(sessions || 54)
        : fleetKind === "hooked"
          ? await hookedDaemon()
          : await emptyDaemon();
    await use(new Fleet(server, page));
    // Requests that are still open when a test ends would fail the next test.
    await page.unrouteAll({ behavior: "ignoreErrors" });
    if (!shared) await server.stop();
  },
  daemonProxy: async ({ fleet }, use) => {
    const daemonProxy = await new CuttableProxy(fleet.server).open();
    await use(daemonProxy);
    daemonProxy.close();
  },
});

export { expect };
