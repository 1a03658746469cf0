import AxeBuilder from "@axe-core/playwright";
import type { Locator, Page } from "@playwright/test";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "../src/generated/Session";
import { expect, logged, test, TOAST_MS, wantedIn, type Fleet } from "./fleet";
import { rest } from "./resting";
import { limits, spend, told, usage } from "./spent";

/** g and a letter, which belong together only if they come quickly; a busy machine may need a second try. */
async function go(page: Page, key: string, arrives: Locator): Promise<void> {
  await expect(async () => {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    await expect(arrives.first()).toBeVisible({ timeout: 2_000 });
  }).toPass();
}

/** Ctrl-K, a few letters, and Enter on the first that is found. */
async function command(page: Page, text: string, finds: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await expect(page.getByPlaceholder("Command or session")).toBeFocused();
  await page.keyboard.type(text);
  await expect(page.getByRole("option").first()).toContainText(finds);
  await page.keyboard.press("Enter");
}

test.describe("drawer", () => {
  test("its charts begin with the first message, long before the page was opened", async ({ fleet, page }) => {
    const id = "00000000-0000-4000-8000-00000000cafe";
    const folder = join(fleet.server.claude, "projects", "-home-dev-api");
    mkdirSync(folder, { recursive: true });
    const began = Date.now() - 3_600_000;
    const said = Array.from({ length: 30 }, (_, i) => JSON.stringify({
      type: "assistant", requestId: `r${i}`, timestamp: new Date(began + i * 60_000).toISOString(), cwd: "/home/dev/api",
      message: { id: `m${i}`, model: "claude-opus-5-5", content: [{ type: "text", text: "so far" }], usage: { input_tokens: 5, output_tokens: 400, cache_read_input_tokens: 4_000 * (i + 1) } },
    }));
    const transcript_path = join(folder, `${id}.jsonl`);
    writeFileSync(transcript_path, `${said.join("\n")}\n`);
    await fleet.hook(id, "SessionStart", { source: "resume", transcript_path });
    await fleet.hook(id, "UserPromptSubmit", { prompt: "Go on", transcript_path });
    await fleet.open(`#/session/${id}`);
    const drawer = page.locator("[data-drawer]");
    const first = new Date(began).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
    for (const name of [/^Context over time: 120k tokens now/, /^Cost over time: \$/]) {
      await expect(drawer.getByRole("img", { name })).toContainText(first);
    }
    // One that nobody knows numbers of has no chart, and nothing broken in its place.
    const plain = await fleet.start("No transcript here");
    await fleet.open(`#/session/${plain}`);
    await expect(drawer.getByRole("heading", { level: 2 })).toHaveText("No transcript here");
    await expect(drawer.locator(".chart")).toHaveCount(0);
  });

  test("each agent in the tree tells what it spent, as far as its transcript does", async ({ fleet, page }) => {
    const transcript_path = join(fleet.server.claude, "projects", "-home-dev-api", "00000000-0000-4000-8000-000000000001.jsonl");
    mkdirSync(join(transcript_path.replace(".jsonl", ""), "subagents"), { recursive: true });
    const said = (model: string, output_tokens: number, agent?: { agentId: string; isSidechain: true; sessionId: string }) => `${JSON.stringify({
      type: "assistant", requestId: `r-${agent?.agentId}`, timestamp: new Date().toISOString(), cwd: "/home/dev/api", ...agent,
      message: { id: `m-${agent?.agentId}`, model, content: [{ type: "text", text: "so far" }], usage: { input_tokens: 5, output_tokens } },
    })}\n`;
    writeFileSync(transcript_path, said("claude-opus-5-5", 400));
    const id = await fleet.start("Look around", { transcript_path });
    for (const [agent_id, agent_type, model] of [["a1", "Explore", "claude-opus-5-5"], ["a2", "Plan", "a-model-without-price"], ["a3", "Review", null]] as const) {
      await fleet.hook(id, "SubagentStart", { agent_id, agent_type, transcript_path });
      const file = join(transcript_path.replace(".jsonl", ""), "subagents", `agent-${agent_id}.jsonl`);
      if (model) writeFileSync(file, said(model, 50_000, { isSidechain: true, agentId: agent_id, sessionId: id }));
    }
    await fleet.open(`#/session/${id}`);
    const agent = (name: string) => page.locator("[data-drawer] .tree .sub", { hasText: name }).locator(".cost");
    await expect(agent("Explore")).toHaveText("$1.00");
    await expect(agent("Plan")).toHaveText("no price");
    await expect(agent("Review")).toHaveText("");
  });

  test("tells why, when and what: timeline, conversation, agents, to-dos, files, raw payloads", async ({ fleet, page }) => {
    const id = await fleet.start("Tidy the store");
    const edit = { tool_name: "Edit", tool_input: { file_path: "/home/dev/api/src/store.rs", old_string: "a", new_string: "b" }, tool_use_id: "t1" };
    await fleet.hook(id, "PreToolUse", edit);
    await fleet.hook(id, "PostToolUse", { ...edit, tool_response: {} });
    const make = { tool_name: "Bash", tool_input: { command: "make" }, tool_use_id: "t2" };
    await fleet.hook(id, "PreToolUse", make);
    await fleet.hook(id, "PostToolUseFailure", { ...make, error: "exit 1: no rule to make target" });
    await fleet.hook(id, "TaskCreated", { task_id: "1", task_subject: "Write the tests" });
    await fleet.hook(id, "TaskCreated", { task_id: "2", task_subject: "Run them" });
    await fleet.hook(id, "TaskCompleted", { task_id: "1", task_subject: "Write the tests" });
    await fleet.hook(id, "SubagentStart", { agent_id: "a1", agent_type: "Explore" });
    await fleet.hook(id, "PreToolUse", { agent_id: "a1", agent_type: "Explore", tool_name: "Grep", tool_input: { pattern: "total" }, tool_use_id: "t3" });
    await fleet.open(`#/session/${id}`);
    const drawer = page.locator("[data-drawer]");
    await expect(drawer.getByRole("heading", { level: 2 })).toHaveText("Tidy the store");
    const explained = (await (await fetch(`${fleet.server.url}api/sessions/${id}/explain`)).json()) as { because: { rule: string; name: string; seq: number } };
    const why = drawer.getByRole("region", { name: "Why is it here" });
    await expect(why).toContainText(explained.because.rule);
    await expect(why).toContainText(`${explained.because.name} from hook`);
    await expect(why).toContainText(`seq ${explained.because.seq}`);
    const timeline = drawer.getByRole("region", { name: "Timeline" });
    await expect(timeline.locator(".ev .r.bad")).toContainText("no rule to make target");
    await expect(timeline.locator(".ev .r.ok")).toHaveCount(1);
    await expect(timeline.locator(".ev.child").first()).toContainText("Explore");
    await timeline.locator(".ev-line", { hasText: "make" }).first().click();
    await expect(drawer.locator(".raw").first()).toContainText("hook_event_name");
    await expect(drawer.getByRole("region", { name: "Conversation" })).toContainText("Tidy the store");
    const side = drawer.getByRole("region", { name: "Measures" });
    await expect(side).toContainText("1 of 2");
    await expect(side).toContainText("Run them");
    await expect(side.locator(".tree .sub")).toContainText("Explore");
    await expect(side).toContainText("src/store.rs");
    await expect(side).not.toContainText("Cost");
    // It follows while it is open.
    await fleet.hook(id, "Stop", { last_assistant_message: "All tidy now." });
    await fleet.hook(id, "SubagentStop", { agent_id: "a1", agent_type: "Explore" });
    await expect(drawer.getByRole("region", { name: "Conversation" })).toContainText("All tidy now.");
    await page.keyboard.press("Escape");
    await expect(drawer).toHaveCount(0);
    await expect(page).toHaveURL(/#\/$/);
    await expect.poll(async () => (await fleet.sessions())[0]?.seen).toBe(true);
  });

  test("follows a session that never pauses", async ({ fleet, page }) => {
    const id = await fleet.start("Busy");
    await fleet.open(`#/session/${id}`);
    const timeline = page.locator("[data-drawer]").getByRole("region", { name: "Timeline" });
    await expect(timeline.locator(".ev").first()).toBeVisible();
    let seen = false;
    const busy = async () => {
      for (let i = 0; !seen; i++) {
        const call = { tool_name: "Bash", tool_input: { command: `step ${i} of many` }, tool_use_id: `t${i}` };
        await fleet.hook(id, "PreToolUse", call);
        await fleet.hook(id, "PostToolUse", { ...call, tool_response: {} });
        await page.waitForTimeout(80);
      }
    };
    // It is looked at while the calls go on; a pause would be the end of the story.
    await Promise.all([busy(), expect(timeline).toContainText("step 5 of many").finally(() => { seen = true; })]);
  });

  test("never gives one state the reason of another", async ({ fleet, page }) => {
    const id = await fleet.start();
    let [gate, asking] = [Promise.resolve(), 0];
    await page.route("**/explain", async (route) => {
      await gate;
      asking++;
      await route.fulfill({ response: await route.fetch() });
      asking--;
    });
    await fleet.open(`#/session/${id}`);
    const why = page.locator("[data-drawer]").getByRole("region", { name: "Why is it here" });
    await expect(why).toContainText("UserPromptSubmit");
    const state = await why.locator("dd").first().innerText();
    let release = () => {};
    gate = new Promise((resolve) => { release = resolve; });
    // A question that is under way would be answered with what comes next.
    await expect.poll(() => asking).toBe(0);
    await fleet.hook(id, "Stop", { last_assistant_message: "Done." });
    // The drawer's own head has the news already.
    await expect(page.locator("[data-drawer] .state").first()).not.toContainText(state);
    await expect(why.locator("dd").first()).toHaveText(state);
    release();
    await expect(why).toContainText("Stop");
    await expect(why.locator("dd").first()).not.toHaveText(state);
  });

  test("an unknown link says so", async ({ fleet, page, errors }) => {
    await fleet.open("#/session/nobody");
    await expect(page.getByRole("dialog")).toContainText("No session by this link");
    await logged(errors, "404");
  });
});

test.describe("keyboard", () => {
  test.use({ ground: "resting" });

  test("j, k, h and l move; Tab has one stop per lane; ? and Ctrl-K open", async ({ fleet, page }) => {
    await fleet.open();
    await page.keyboard.press("j");
    const current = page.locator("[aria-current=true][data-card]");
    const first = (await current.getAttribute("data-card")) ?? "";
    await page.keyboard.press("j");
    await expect(current).not.toHaveAttribute("data-card", first);
    await page.keyboard.press("k");
    await expect(current).toHaveAttribute("data-card", first);
    await page.keyboard.press("l");
    await expect(page.locator("[data-lane=replies] [data-card]:focus")).toHaveCount(1);
    await page.keyboard.press("h");
    await expect(page.locator("[data-lane=permissions] [data-card]:focus")).toHaveCount(1);
    await go(page, "r", page.locator("[data-lane=running] [data-card]:focus"));
    await expect(page.locator("[data-lane=running] [data-card][tabindex='0']")).toHaveCount(1);
    await page.keyboard.press("?");
    await expect(page.getByRole("dialog", { name: "Keyboard" })).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await command(page, "overview", "Go to the overview");
    await expect(page).toHaveURL(/#\/overview$/);
    await go(page, "b", page.locator("[data-card]"));
  });

  test("n goes through what needs you, in order; the palette opens a session", async ({ fleet, page }) => {
    await page.setViewportSize({ width: 1300, height: 900 });
    await fleet.open();
    const want = wantedIn(await fleet.sessions(), "Needs You").map((line) => line.split(" ")[0]);
    for (const id of want.slice(0, 3)) {
      await page.keyboard.press("n");
      await expect(fleet.card(id ?? "")).toBeFocused();
    }
    await command(page, "parquet (1)", "parquet files in one go (1)");
    await expect(page.locator("[data-drawer]").getByRole("heading", { level: 2 })).toContainText("parquet files in one go (1)");
  });

  test("Enter opens a card, Escape brings the focus back to it", async ({ fleet, page }) => {
    await fleet.open();
    await go(page, "r", page.locator("[data-lane=running] [data-card]:focus"));
    const id = await page.locator("[data-card]:focus").getAttribute("data-card");
    await page.keyboard.press("Enter");
    await expect(page.locator(`[data-drawer="${id}"]`)).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(fleet.card(id ?? "")).toBeFocused();
  });
});

test.describe("keyboard in the overview", () => {
  test.use({ ground: "resting" });

  test("j and k go along the rows, Enter opens one, Escape comes back to it", async ({ fleet, page }) => {
    await fleet.open("#/overview");
    const row = (i: number) => page.locator(".row-name").nth(i);
    await expect(row(3)).toBeVisible();
    await page.keyboard.press("j");
    await expect(row(0)).toBeFocused();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await expect(row(1)).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(page.locator("[data-drawer]")).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(row(1)).toBeFocused();
  });
});

test.describe("the demo", () => {
  test.use({ ground: "demo", sessions: 24 });

  test("its sessions have numbers: on the cards, in the header, and as charts in the drawer", async ({ fleet, page }) => {
    let session: Session | undefined;
    const costly = async () => (session = (await fleet.sessions()).find((s) => s.agent_state.group !== "done" && s.turn_count > 2 && (s.cost?.usd_micros ?? 0) > 100_000));
    await expect.poll(costly).toBeTruthy();
    await expect.poll(async () => (await usage(fleet.server)).today.usd_micros).toBeGreaterThan(0);
    expect(session!.cost!.unpriced_models).toEqual([]);
    expect(session!.git_branch).toBeTruthy();
    await fleet.open(`#/session/${session!.id}`);
    const drawer = page.locator("[data-drawer]");
    await expect(drawer.getByRole("img", { name: /^Context over time: .* tokens now/ })).toBeVisible();
    await expect(drawer.getByRole("img", { name: /^Cost over time: \$/ })).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(page.getByRole("button", { name: /Spend today/ })).toContainText(/\$\d/);
    await expect(page.locator("section.column .dials .ctx").first()).toBeVisible();
  });
});

test.describe("overview", () => {
  test.use({ ground: "demo", sessions: 24 });

  test("every session is a row; a stretch tells its story and opens", async ({ fleet, page }) => {
    await fleet.open("#/overview");
    await expect.poll(async () => (await page.locator(".row-name").count()) - (await fleet.sessions()).length).toBe(0);
    const stretch = page.locator(".track .seg.blocked").last();
    // The fleet goes on: a stretch may end, or move on, under the pointer.
    await expect(async () => {
      await stretch.hover({ timeout: 2_000 });
      await expect(page.getByRole("tooltip")).toContainText(/(Permission|Question|Plan|\?).*(Waited|Waits)/, { timeout: 2_000 });
    }).toPass();
    await page.getByRole("button", { name: "By time waited" }).click();
    await expect(page.locator(".lane-row")).toHaveCount(0);
    await page.locator(".row-name").first().click();
    await expect(page.locator("[data-drawer]")).toBeVisible();
  });
});

test.describe("first run and hooks", () => {
  test("with no session the page says what it waits for and what to try, then the first card replaces it", async ({ fleet, page }) => {
    await fleet.open();
    await expect(page.getByRole("heading", { name: "Waiting for the first session" })).toBeVisible();
    // Nothing of ours is on the PATH here: what is offered runs all the same.
    const command = page.locator(".cmdline code").first();
    await expect(command).toHaveText(/^\/.*\/flightdeck demo$/);
    const offered = await command.innerText();
    expect(execFileSync("/bin/sh", ["-c", `${offered} --help`], { encoding: "utf8", env: {} })).toContain("Usage: flightdeck demo");
    await expect(page.locator("[data-hooks=off]")).toContainText("Off");
    const id = await fleet.start();
    await expect(fleet.cardIn("Running", id)).toBeVisible();
    await expect(page.locator(".banner")).toHaveCount(0);
  });

  test.describe("on a phone", () => {
    test.use({ viewport: { width: 390, height: 844 } });

    test("the first page is as wide as the screen, wherever the program lies", async ({ fleet, page }) => {
      const deep = (await (await fetch(`${fleet.server.url}hook/status`)).json()) as object;
      const program = `/home/somebody/${"a-folder-in-a-folder/".repeat(4)}target/release/flightdeck`;
      await page.route("**/hook/status", (route) => route.fulfill({ json: { ...deep, program } }));
      await fleet.open();
      await expect(page.locator(".cmdline").first()).toHaveText(`${program} demo`);
      for (const part of [".lead", ".checks", ".way", ".cmdline .btn", ".empty-in > p"]) {
        const box = await page.locator(part).first().boundingBox();
        expect(box!.x + box!.width, part).toBeLessThanOrEqual(390);
      }
    });
  });

  test("hooks installed for good, then changed by another tool, are said with the daemon's own fix, which works", async ({ fleet, page }) => {
    fleet.server.run("hooks", "install");
    await fleet.start();
    await fleet.open();
    await expect(page.locator("[data-hooks=ok]")).toContainText("In place");
    await expect(page.locator(".banner")).toHaveCount(0);
    const installed = readFileSync(fleet.server.settings, "utf8");
    const changed = JSON.parse(installed) as { hooks: Record<string, unknown> };
    delete changed.hooks.Stop;
    writeFileSync(fleet.server.settings, JSON.stringify(changed, null, 2));
    await page.reload();
    await expect(page.locator(".banner[data-trouble=drifted]")).toContainText("Another tool changed your Claude Code settings: one hook is missing or out of date (Stop)");
    await expect(page.locator(".banner code")).toHaveText(/\/flightdeck hooks repair$/);
    await expect(page.locator("[data-hooks=drifted]")).toContainText("Changed by another tool");
    fleet.server.run("hooks", "repair");
    await page.reload();
    await expect(page.locator("[data-hooks=ok]")).toBeVisible();
    await expect(page.locator(".banner")).toHaveCount(0);
  });

  test.describe("a daemon that registers itself", () => {
    test.use({ ground: "hooked" });

    test("hooks taken out are missed on the empty page and over the board", async ({ fleet, page }) => {
      await fleet.open();
      await expect(page.locator(".checks")).toContainText(/in your Claude Code settings, \d+ events/);
      fleet.server.run("hooks", "uninstall");
      await page.reload();
      await expect(page.getByRole("heading", { name: "The hooks are not in place" })).toBeVisible();
      await expect(page.locator(".cmdline").first()).toContainText("flightdeck hooks install");
      await fleet.start();
      await expect(page.locator(".banner[data-trouble=missing] code")).toHaveText(/\/flightdeck hooks install$/);
    });
  });
});

test.describe("phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, ground: "resting" });

  test("one column at a time, nothing wider than the screen", async ({ fleet, page }) => {
    await fleet.open();
    await expect(fleet.column("Needs You")).toBeVisible();
    await expect(fleet.column("Running")).toBeHidden();
    await page.getByRole("navigation", { name: "Columns" }).getByRole("button", { name: /Running/ }).click();
    await expect(fleet.column("Running")).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await page.getByRole("button", { name: "Next" }).click();
    await expect(page.locator(".needs [data-card]:focus")).toHaveCount(1);
  });

  test.describe("with terminals that have names", () => {
    test.use({ ground: "demo", sessions: 24 });

    test("a long title has the width to itself: its terminal's name goes below", async ({ fleet, page }) => {
      await fleet.open();
      await expect(page.locator(".needs [data-card]").first()).toBeVisible();
      const LINE_PX = 20;
      // The fleet goes on: there may be no such card at this moment.
      await expect(async () => {
        const rows = await page.locator(".needs .card-sub").evaluateAll((found) => found.map((row) => {
          const [title, seat] = [row.querySelector(".title"), row.querySelector(".seat")].map((e) => e?.getBoundingClientRect());
          return { lines: title?.height ?? 0, named: (seat?.width ?? 0) > 0, beside: !!title && !!seat && seat.top < title.bottom };
        }));
        const long = rows.filter(({ lines, named }) => named && lines > LINE_PX + 1);
        expect(long.length).toBeGreaterThan(0);
        expect(long.filter(({ beside }) => beside)).toEqual([]);
      }).toPass({ timeout: 20_000 });
      // A head as narrow as this has room for what is wrong, not for what is as it should be.
      await expect(page.locator("[data-hooks=simulated]")).toBeHidden();
    });
  });

  test.describe("with a finger", () => {
    test.use({ hasTouch: true, isMobile: true });

    test("a tap opens a card", async ({ fleet, page }) => {
      await fleet.open();
      const card = page.locator(".needs [data-card]").first();
      const id = await card.getAttribute("data-card");
      await card.locator(".card-head").tap();
      await expect(page).toHaveURL(new RegExp(`#/session/${id}`));
    });
  });
});

test.describe("accessible", () => {
  /** Colour contrast is part of it, so whatever still fades must have arrived. */
  async function check(fleet: Fleet, what: string): Promise<void> {
    await fleet.still();
    const { violations } = await new AxeBuilder({ page: fleet.page }).analyze();
    const serious = violations.filter((v) => v.impact === "serious" || v.impact === "critical");
    expect(serious.map((v) => `${what}: ${v.id} ${v.nodes[0]?.html} ${v.nodes[0]?.failureSummary}`)).toEqual([]);
  }

  for (const scheme of ["dark", "light"] as const) {
    test.describe(scheme, () => {
      test.use({ colorScheme: scheme });

      test(`axe finds no serious violation: board, drawer, overview, palette, notifications, usage (${scheme})`, async ({ fleet, page }) => {
        test.setTimeout(120_000);
        // One in each state: axe takes seconds per card on a busy machine.
        await rest(fleet.server.url, 12);
        await fleet.open();
        await check(fleet, "board");
        const session = (await fleet.sessions()).find((s) => s.agent_state.state === "delegating");
        await page.goto(`${fleet.server.url}#/session/${session?.id}`);
        await expect(page.locator(".ev").first()).toBeVisible();
        await check(fleet, "drawer");
        await page.goto(`${fleet.server.url}#/overview`);
        await expect(page.locator(".track .seg").first()).toBeVisible();
        await check(fleet, "overview");
        await page.keyboard.press("Control+k");
        await expect(page.getByRole("dialog", { name: "Commands" })).toBeVisible();
        await check(fleet, "palette");
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "Notifications" }).click();
        await expect(page.getByRole("dialog", { name: "Notifications" })).toBeVisible();
        await check(fleet, "notifications");
        await page.keyboard.press("Escape");
        spend(fleet.server, "api", "s1", [[0, 2], [30, 3]]);
        limits(fleet.server, session?.id ?? "", 72, 88);
        await told(fleet.server, 5);
        await go(page, "u", page.getByRole("region", { name: "By project" }));
        await check(fleet, "usage");
      });

      test(`what could not be done is said in words that can be read, over an open session too (${scheme})`, async ({ fleet, page, errors }) => {
        const id = await fleet.start();
        await fleet.lasts(TOAST_MS);
        await fleet.open(`#/session/${id}`);
        const [drawer, toast] = [page.locator(`[data-drawer="${id}"]`), page.locator(".toast")];
        // Offered once the page knows what this daemon can do, which `t` asks too.
        await expect(drawer.getByRole("button", { name: "Copy resume command" })).toBeVisible();
        await page.keyboard.press("Escape");
        await expect(drawer).toHaveCount(0);
        await page.keyboard.press("t");
        await expect(toast).toContainText("no tmux pane");
        await fleet.still();
        const { violations, passes } = await new AxeBuilder({ page }).include(".toast").withRules("color-contrast").analyze();
        expect(violations.map((v) => v.nodes[0]?.failureSummary)).toEqual([]);
        expect(passes.map((p) => p.id)).toEqual(["color-contrast"]);
        // The one that is still there would lie below what opens now.
        await toast.evaluate((shown) => (shown as HTMLElement).hidePopover());
        await page.keyboard.press("o");
        await expect(drawer).toBeVisible();
        await page.keyboard.press("t");
        await logged(errors, "409", "409");
        // In the layer of the dialog, and later than it: a z-index would not do.
        await expect(page.locator(".toast:popover-open")).toContainText("no tmux pane");
      });
    });

    test.describe(`${scheme}, first run`, () => {
      test.use({ colorScheme: scheme });

      test(`axe finds no serious violation: the empty page (${scheme})`, async ({ fleet, page }) => {
        await fleet.open();
        await expect(page.locator(".checks")).toBeVisible();
        await check(fleet, "empty");
      });
    });
  }
});
