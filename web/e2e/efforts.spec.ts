/** The efforts: phases, context windows, heartbeat, handoffs, guard rules, and the chip on a card. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import type { Effort } from "../src/generated/Effort";
import { postHook } from "./daemon";
import { expect, type Fleet, logged, test } from "./fleet";
import { command, go } from "./keyboard";

const SKILL = { phases: ["Understand", "Plan", "Build"], heartbeat: 3 };
const FIRST = "00000000-0000-4000-8000-00000000000a";
const SECOND = "00000000-0000-4000-8000-00000000000b";

const rowOf = (page: Page, effort: Effort) => page.locator(`[data-effort="${effort.id}"]`);
const detail = (page: Page) => page.locator("[data-shown]");

/** A directory with an effort, in the daemon's temporary home. */
class Workstream {
  readonly dir: string;
  effort!: Effort;

  constructor(
    readonly fleet: Fleet,
    name: string,
  ) {
    this.dir = join(fleet.server.home, name);
    mkdirSync(this.dir);
  }

  start(title: string, skill = "implement"): this {
    this.effort = this.rpc("effort.start", { dir: this.dir, skill, title, settings: SKILL }) as Effort;
    return this;
  }

  rpc(name: string, args: Record<string, unknown>): unknown {
    return JSON.parse(this.fleet.server.run("rpc", name, JSON.stringify(args)));
  }

  effortCommand(...args: string[]): string {
    const [name = "", ...rest] = args;
    return this.fleet.server.run("effort", name, this.effort.id, ...rest);
  }

  guard(id: string, contains: string): void {
    const when = ["--field", "/tool_input/command", "--op", "contains", "--value", contains];
    const rule = ["--id", id, ...when, "--then", "deny", "--message", "Not here."];
    this.fleet.server.run("guard", "add", this.effort.id, ...rule);
  }

  /** Sends a hook that waits for its verdict, as the registered hooks do while an effort is active. */
  async hook(id: string, hook_event_name: string, fields: Record<string, unknown> = {}): Promise<string> {
    const payload = { session_id: id, hook_event_name, cwd: this.dir, ...fields };
    const response = await postHook(this.fleet.server.url, payload, { "x-flightdeck-hold": "1" });
    return response.text();
  }

  async session(id: string, prompt = "Split the tax engine"): Promise<void> {
    await this.hook(id, "SessionStart", { source: "startup", model: "claude-opus-5-5" });
    await this.hook(id, "UserPromptSubmit", { prompt });
  }

  private calls = 0;
  /** A Bash call; the verdict that the client gets. */
  private async call(id: string, bash: string): Promise<string> {
    const call = { tool_name: "Bash", tool_input: { command: bash }, tool_use_id: `toolu_${++this.calls}` };
    const verdict = await this.hook(id, "PreToolUse", call);
    if (!verdict.includes('"deny"')) await this.hook(id, "PostToolUse", { ...call, tool_response: {} });
    return verdict;
  }

  // A verdict that a busy daemon would give too late is not given. So these repeat what an agent would do.

  /** Calls until the heartbeat is at least this. Returns the heartbeat. */
  async beatUntil(id: string, heartbeat: number): Promise<number> {
    const read = () => this.rpc("effort.show", { id: this.effort.id }) as Effort;
    await expect(async () => {
      if (read().heartbeat < heartbeat) await this.call(id, "cargo check");
      expect(read().heartbeat).toBeGreaterThanOrEqual(heartbeat);
    }).toPass();
    return read().heartbeat;
  }

  /** The call is denied for this reason. */
  async denied(id: string, bash: string, why: string): Promise<void> {
    await expect(async () => expect(await this.call(id, bash)).toContain(why)).toPass();
  }

  /** A session starts and is told a text, then or with its next prompt. */
  async told(id: string, text: string): Promise<void> {
    const started = await this.hook(id, "SessionStart", { source: "startup" });
    const next = () => this.hook(id, "UserPromptSubmit", { prompt: "go on" });
    await expect(async () => expect(started + (await next())).toContain(text)).toPass();
  }
}

test("an effort is shown from its start to its end, as it happens", async ({ fleet, page }) => {
  await fleet.open("#/efforts");
  await expect(page.getByRole("heading", { name: "No effort yet" })).toBeVisible();
  await expect(page.getByText("effort start implement")).toBeVisible();
  const work = new Workstream(fleet, "api").start("Split the tax engine");
  const row = rowOf(page, work.effort);
  await expect(row).toContainText("implement 1");
  await expect(row).toContainText("Waits for a window");
  await expect(row.locator(".steps .is-now")).toContainText("Understand");
  work.effortCommand("phase", "Plan", "--proof", "the rules are listed");
  await expect(row.locator(".steps .is-done")).toContainText("Understand");
  await expect(row.locator(".steps .is-now")).toContainText("Plan");
  await expect(detail(page).locator(".steps .is-now")).toContainText("the rules are listed");
  await expect(detail(page).locator('[data-kind="phase"]').first()).toContainText("Plan");
  work.effortCommand("log", "9 of 14 rules moved");
  await expect(detail(page).locator('[data-kind="log"]')).toContainText("9 of 14 rules moved");
  work.effortCommand("inject", "The key moved to the vault");
  await expect(detail(page).locator(".effort-facts")).toContainText("not delivered yet");
  work.effortCommand("finish");
  await expect(row).toContainText("Finished");
  await expect(row.locator(".steps .is-skipped")).toContainText("Build");
  await expect(page.locator(".efforts-tier")).toHaveText("Finished");
});

test("the heartbeat follows the calls, and a held effort says that it must log", async ({ fleet, page }) => {
  const work = new Workstream(fleet, "api").start("Split the tax engine");
  await fleet.open("#/efforts");
  await work.session(FIRST);
  const row = rowOf(page, work.effort);
  const beat = row.getByRole("meter", { name: "Heartbeat" });
  await expect(row.locator(".segment.is-open")).toHaveCount(1);
  await expect(beat).toHaveText("0/3");
  await expect(beat).toHaveText(`${await work.beatUntil(FIRST, 1)}/3`);
  await expect(beat).toHaveText(`${await work.beatUntil(FIRST, 2)}/3`);
  await work.denied(FIRST, "cargo test", "deny");
  await expect(beat).toHaveText(`${await work.beatUntil(FIRST, 3)}/3`);
  await expect(row.locator(".doing")).toHaveText("Must log first");
  await expect(detail(page).locator('[data-kind="held"]')).toContainText("cargo test");
  work.effortCommand("log", "The parser is done");
  await expect(beat).toHaveText("0/3");
  await expect(row.locator(".doing")).not.toHaveText("Must log first");
});

test("a denied call is on both timelines with its rule", async ({ fleet, page }) => {
  const work = new Workstream(fleet, "api").start("Split the tax engine");
  work.guard("no-force-push", "push --force");
  await work.session(FIRST);
  await work.denied(FIRST, "git push --force origin main", "no-force-push");
  await fleet.open(`#/efforts/${work.effort.id}`);
  const denied = detail(page).locator('[data-kind="denial"]');
  await expect(denied).toContainText("Denied by guard");
  await expect(denied).toContainText("no-force-push");
  await expect(denied).toContainText("git push --force origin main");
  const rule = detail(page).getByRole("row", { name: /no-force-push/ });
  await expect(rule).toContainText("push --force");
  await expect(rule.getByRole("cell").last()).toHaveText("1");
  await expect(detail(page).getByRole("columnheader", { name: "In 1 recorded call" })).toBeVisible();
  await expect(rule.getByRole("cell").nth(4)).toHaveText("1");
  await page.getByRole("link", { name: "Open session" }).click();
  const line = page.locator("[data-drawer] .ev.denied");
  await expect(line).toContainText("no-force-push");
  await expect(line).toContainText("git push --force origin main");
  await page.keyboard.press("Escape");
  await expect(detail(page)).toHaveAttribute("data-shown", work.effort.id);
});

test("a handoff waits for the next window and is delivered to it", async ({ fleet, page }) => {
  const work = new Workstream(fleet, "api").start("Split the tax engine");
  await work.session(FIRST);
  fleet.server.pipe(
    "## Where it stands\nNine of 14 rules live in `tax/rules/`.",
    "effort",
    "dehydrate",
    work.effort.id,
  );
  await fleet.open(`#/efforts/${work.effort.id}`);
  const handoff = detail(page).getByRole("region", { name: "Handoff", exact: true });
  await expect(handoff).toContainText("waits for the next window");
  await expect(handoff.locator("code")).toHaveText("tax/rules/");
  await expect(page.locator(".window-box")).toContainText("left a handoff");
  await work.told(SECOND, "Nine of 14 rules");
  await expect(page.locator(".window-box")).toHaveCount(2);
  await expect(handoff).toContainText("from window 1 to 2");
  await expect(handoff).toContainText("delivered");
  await expect(page.locator(".handed-over")).toHaveCount(1);
  await page.locator(".window-box").first().click();
  await expect(page.locator("[data-drawer]")).toHaveAttribute("data-drawer", FIRST);
});

test("the chip on a card has skill, phase and heartbeat, and opens the effort", async ({ fleet, page }) => {
  const work = new Workstream(fleet, "api").start("Split the tax engine");
  await work.session(FIRST);
  const beats = await work.beatUntil(FIRST, 1);
  await fleet.open();
  const chip = fleet.card(FIRST).locator(".effort-chip");
  await expect(chip).toContainText("implement 1");
  await expect(chip).toContainText("Understand");
  await expect(chip).toContainText(`${beats}/3`);
  work.effortCommand("phase", "Plan");
  await expect(chip).toContainText("Plan");
  await chip.click();
  await expect(detail(page)).toHaveAttribute("data-shown", work.effort.id);
  work.effortCommand("finish");
  await go(page, "b", fleet.card(FIRST));
  await expect(chip).toHaveCount(0);
});

test("search, filters and keys find an effort", async ({ fleet, page }) => {
  const tax = new Workstream(fleet, "billing").start("Split the tax engine");
  const fix = new Workstream(fleet, "ingest").start("Offsets committed twice", "fix");
  tax.effortCommand("log", "reverse charge is next");
  await fix.session(SECOND);
  fix.effortCommand("finish");
  await fleet.open();
  await go(page, "e", page.locator(".effort-row"));
  await expect(page.locator(".effort-row")).toHaveCount(2);
  await page.keyboard.press("/");
  await page.keyboard.type("REVERSE billing");
  await expect(page.locator(".effort-row")).toHaveCount(1);
  await expect(page.locator(".found")).toContainText("1 of 2");
  await page.keyboard.type(" nowhere");
  await expect(page.getByText("No effort fits the search and the filters")).toBeVisible();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Skill Any" }).click();
  await page.getByRole("button", { name: "fix", exact: true }).click();
  await expect(page.locator(".effort-row")).toHaveCount(1);
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  await page.getByRole("button", { name: "Active", exact: true }).click();
  await expect(rowOf(page, fix.effort)).toHaveCount(0);
  await expect(rowOf(page, tax.effort)).toBeVisible();
  await page.getByRole("button", { name: "All", exact: true }).first().click();
  await expect(page.locator(".effort-row")).toHaveCount(2);
  await page.locator(".efforts-list").focus();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await expect(rowOf(page, fix.effort)).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(detail(page)).toHaveAttribute("data-shown", fix.effort.id);
  await expect(page).toHaveURL(new RegExp(`#/efforts/${fix.effort.id}$`));
  await page.keyboard.press("Escape");
  await expect(page).toHaveURL(/#\/efforts$/);
  await go(page, "b", page.locator("[data-card]"));
  await command(page, "several context windows", "Go to the efforts");
  await expect(page.locator(".effort-row")).toHaveCount(2);
});

test("a link to an effort that does not exist says so", async ({ fleet, page, errors }) => {
  await fleet.open("#/efforts/e-none");
  await expect(page.getByText("No effort found for this link")).toBeVisible();
  await logged(errors, "404");
  await page.getByRole("link", { name: "All efforts" }).click();
  await expect(page.getByRole("heading", { name: "No effort yet" })).toBeVisible();
});

/** An effort with everything, and with long texts. */
async function fullEffort(fleet: Fleet): Promise<Workstream> {
  const work = new Workstream(fleet, "a-project-with-quite-a-long-name");
  work.start("a title that goes on and on without any end ".repeat(4));
  work.guard("no-force-push-anywhere-in-this-organisation", "push --force");
  await work.session(FIRST);
  await work.denied(FIRST, `git push --force ${"origin-with-a-long-name/".repeat(8)}`, "no-force-push");
  work.effortCommand("phase", "Plan", "--proof", "a proof that goes on and on ".repeat(6));
  work.effortCommand("log", "a-path-without-any-space/".repeat(12));
  fleet.server.pipe(
    `## Where it stands\n${"very/long/path/".repeat(20)}`,
    "effort",
    "dehydrate",
    work.effort.id,
  );
  await work.told(SECOND, "Where it stands");
  await work.beatUntil(SECOND, 1);
  return work;
}

for (const width of [390, 1024, 1440, 1920]) {
  test(`nothing of the efforts is off screen at ${width} px`, async ({ fleet, page }) => {
    await page.setViewportSize({ width, height: 844 });
    const work = await fullEffort(fleet);
    const tooWide = () =>
      page.locator(".app *").evaluateAll((all) =>
        all
          .filter((one) => one.checkVisibility() && !one.closest(".window-band, .guards"))
          .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
          .map((one) => one.className),
      );
    await fleet.open("#/efforts");
    await expect(page.locator(".effort-row")).toBeVisible();
    expect(await tooWide()).toEqual([]);
    await fleet.open(`#/efforts/${work.effort.id}`);
    await expect(page.locator(".window-box")).toHaveCount(2);
    expect(await tooWide()).toEqual([]);
    // On a narrow page the detail replaces the list, and a link leads back.
    await expect(page.locator(".efforts-list")).toBeVisible({ visible: width > 1180 });
    await expect(page.getByRole("link", { name: "All efforts" })).toBeVisible({ visible: width <= 1180 });
  });
}

for (const scheme of ["dark", "light"] as const) {
  test.describe(scheme, () => {
    test.use({ colorScheme: scheme });
    test(`axe finds no serious violation in the efforts (${scheme})`, async ({ fleet, page }) => {
      const work = await fullEffort(fleet);
      await fleet.open(`#/efforts/${work.effort.id}`);
      await expect(page.locator(".window-box")).toHaveCount(2);
      await fleet.waitForAnimations();
      const { violations } = await new AxeBuilder({ page }).analyze();
      const serious = violations.filter((v) => v.impact === "serious" || v.impact === "critical");
      expect(serious.map((v) => `${v.id} ${v.nodes[0]?.html} ${v.nodes[0]?.failureSummary}`)).toEqual([]);
    });
  });
}
