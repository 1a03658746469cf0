/** The session drawer: charts, agents, timeline, conversation, raw payloads. */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, logged, test } from "./fleet";
import { finished, spoolHooks } from "./pastHooks";

test.describe("drawer", () => {
  test("the charts start with the first message, even if the page was opened later", async ({
    fleet,
    page,
  }) => {
    const id = "00000000-0000-4000-8000-00000000cafe";
    const folder = join(fleet.server.claude, "projects", "-home-dev-api");
    mkdirSync(folder, { recursive: true });
    const began = Date.now() - 3_600_000;
    const lines = Array.from({ length: 30 }, (_, i) =>
      JSON.stringify({
        type: "assistant",
        requestId: `r${i}`,
        timestamp: new Date(began + i * 60_000).toISOString(),
        cwd: "/home/dev/api",
        message: {
          id: `m${i}`,
          model: "claude-opus-5-5",
          content: [{ type: "text", text: "so far" }],
          usage: { input_tokens: 5, output_tokens: 400, cache_read_input_tokens: 4_000 * (i + 1) },
        },
      }),
    );
    const transcript_path = join(folder, `${id}.jsonl`);
    writeFileSync(transcript_path, `${lines.join("\n")}\n`);
    await fleet.hook(id, "SessionStart", { source: "resume", transcript_path });
    await fleet.hook(id, "UserPromptSubmit", { prompt: "Go on", transcript_path });
    await fleet.open(`#/session/${id}`);
    const drawer = page.locator("[data-drawer]");
    const first = new Date(began).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
    for (const name of [/^Context over time: 120k tokens now/, /^Cost over time: \$/]) {
      await expect(drawer.getByRole("img", { name })).toContainText(first);
    }
    // A session without numbers has no chart.
    const plain = await fleet.start("No transcript here");
    await fleet.open(`#/session/${plain}`);
    await expect(drawer.getByRole("heading", { level: 2 })).toHaveText("No transcript here");
    await expect(drawer.locator(".chart")).toHaveCount(0);
  });

  test("each agent in the tree shows its cost if its transcript has one", async ({ fleet, page }) => {
    const transcript_path = join(
      fleet.server.claude,
      "projects",
      "-home-dev-api",
      "00000000-0000-4000-8000-000000000001.jsonl",
    );
    mkdirSync(join(transcript_path.replace(".jsonl", ""), "subagents"), { recursive: true });
    const transcriptLine = (
      model: string,
      output_tokens: number,
      agent?: { agentId: string; isSidechain: true; sessionId: string },
    ) =>
      `${JSON.stringify({
        type: "assistant",
        requestId: `r-${agent?.agentId}`,
        timestamp: new Date().toISOString(),
        cwd: "/home/dev/api",
        ...agent,
        message: {
          id: `m-${agent?.agentId}`,
          model,
          content: [{ type: "text", text: "so far" }],
          usage: { input_tokens: 5, output_tokens },
        },
      })}\n`;
    writeFileSync(transcript_path, transcriptLine("claude-opus-5-5", 400));
    const id = await fleet.start("Look around", { transcript_path });
    for (const [agent_id, agent_type, model] of [
      ["a1", "Explore", "claude-opus-5-5"],
      ["a2", "Plan", "a-model-without-price"],
      ["a3", "Review", null],
    ] as const) {
      await fleet.hook(id, "SubagentStart", { agent_id, agent_type, transcript_path });
      const file = join(transcript_path.replace(".jsonl", ""), "subagents", `agent-${agent_id}.jsonl`);
      if (model)
        writeFileSync(
          file,
          transcriptLine(model, 50_000, { isSidechain: true, agentId: agent_id, sessionId: id }),
        );
    }
    await fleet.open(`#/session/${id}`);
    const agent = (name: string) =>
      page.locator("[data-drawer] .tree .sub", { hasText: name }).locator(".cost");
    await expect(agent("Explore")).toHaveText("$1.00");
    await expect(agent("Plan")).toHaveText("no price");
    await expect(agent("Review")).toHaveText("");
  });

  test("a subagent shows what it was started for, its task and the call that started it", async ({
    fleet,
    page,
  }) => {
    const id = "00000000-0000-4000-8000-000000000002";
    const transcript_path = join(fleet.server.claude, "projects", "-home-dev-api", `${id}.jsonl`);
    const folder = join(transcript_path.replace(".jsonl", ""), "subagents");
    mkdirSync(folder, { recursive: true });
    const line = (fields: Record<string, unknown>) =>
      `${JSON.stringify({ timestamp: new Date().toISOString(), cwd: "/home/dev/api", sessionId: id, ...fields })}\n`;
    writeFileSync(transcript_path, line({ type: "user", message: { role: "user", content: "Look around" } }));
    const task = "Read every module of the store.\nReport which of them write totals.";
    writeFileSync(
      join(folder, "agent-a1.jsonl"),
      line({ type: "user", isSidechain: true, agentId: "a1", message: { role: "user", content: task } }),
    );
    writeFileSync(
      join(folder, "agent-a1.meta.json"),
      JSON.stringify({
        agentType: "Explore",
        description: "Find who writes totals",
        toolUseId: "toolu_start1",
      }),
    );
    await fleet.hook(id, "SessionStart", { source: "startup", agent_type: "reviewer", transcript_path });
    await fleet.hook(id, "UserPromptSubmit", { prompt: "Look around", transcript_path });
    await fleet.hook(id, "SubagentStart", { agent_id: "a1", agent_type: "Explore", transcript_path });
    await fleet.open();
    const card = fleet.card(id);
    await expect(card.locator(".chip", { hasText: "as reviewer" })).toBeVisible();
    const pill = card.locator(".pill", { hasText: "Explore" });
    await expect(pill).toHaveAttribute("title", /^Find who writes totals\n[\s\S]*Report which of them/);
    await fleet.open(`#/session/${id}`);
    const drawer = page.locator("[data-drawer]");
    await expect(drawer.locator(".facts")).toContainText("as reviewer");
    const agent = drawer.locator(".tree .sub", { hasText: "Explore" });
    await expect(agent).toContainText("Find who writes totals");
    await expect(agent.locator(".raw")).toBeHidden();
    await agent.locator("summary").press("Enter");
    await expect(agent.locator(".raw")).toHaveText(task);
    await expect(agent).toContainText("Started by toolu_start1");
  });

  test("says how long the session lasted", async ({ fleet, page }) => {
    const id = "00000000-0000-4000-8000-000000000003";
    spoolHooks(fleet.server, id, "api", [
      [90, "SessionStart", { source: "startup" }],
      ...finished(80, 15, "Tidy the store", "All tidy now."),
    ]);
    await expect.poll(async () => (await fleet.sessions()).length).toBe(1);
    await fleet.open(`#/session/${id}`);
    await expect(page.locator("[data-drawer] .facts")).toContainText("75 min in all");
  });

  test("shows reason, timeline, conversation, agents, to-dos, files and raw payloads", async ({
    fleet,
    page,
  }) => {
    const id = await fleet.start("Tidy the store");
    const edit = {
      tool_name: "Edit",
      tool_input: { file_path: "/home/dev/api/src/store.rs", old_string: "a", new_string: "b" },
      tool_use_id: "t1",
    };
    await fleet.hook(id, "PreToolUse", edit);
    await fleet.hook(id, "PostToolUse", { ...edit, tool_response: {} });
    const make = { tool_name: "Bash", tool_input: { command: "make" }, tool_use_id: "t2" };
    await fleet.hook(id, "PreToolUse", make);
    await fleet.hook(id, "PostToolUseFailure", { ...make, error: "exit 1: no rule to make target" });
    await fleet.hook(id, "TaskCreated", { task_id: "1", task_subject: "Write the tests" });
    await fleet.hook(id, "TaskCreated", { task_id: "2", task_subject: "Run them" });
    await fleet.hook(id, "TaskCompleted", { task_id: "1", task_subject: "Write the tests" });
    await fleet.hook(id, "SubagentStart", { agent_id: "a1", agent_type: "Explore" });
    await fleet.hook(id, "PreToolUse", {
      agent_id: "a1",
      agent_type: "Explore",
      tool_name: "Grep",
      tool_input: { pattern: "total" },
      tool_use_id: "t3",
    });
    await fleet.open(`#/session/${id}`);
    const drawer = page.locator("[data-drawer]");
    await expect(drawer.getByRole("heading", { level: 2 })).toHaveText("Tidy the store");
    const explained = (await (await fetch(`${fleet.server.url}api/sessions/${id}/explain`)).json()) as {
      because: { rule: string; name: string; seq: number };
    };
    const why = drawer.getByRole("region", { name: "Why is it here" });
    // Folded until the person asks.
    await expect(why.locator("dl")).toBeHidden();
    await why.locator("summary").click();
    await expect(why.locator("dl")).toBeVisible();
    await expect(why).toContainText(explained.because.rule);
    await expect(why).toContainText(`${explained.because.name} from hook`);
    await expect(why).toContainText(`seq ${explained.because.seq}`);
    const timeline = drawer.getByRole("region", { name: "Timeline" });
    await expect(timeline.locator(".ev .r.bad")).toContainText("no rule to make target");
    await expect(timeline.locator(".ev .r.ok")).toHaveCount(1);
    await expect(timeline.locator(".ev.child").first()).toContainText("Explore");
    await timeline.locator(".ev-line", { hasText: "make" }).first().click();
    // The row opens a readable view; the JSON is behind a button.
    await expect(timeline.locator(".ev-details .cmd")).toHaveText("make");
    await expect(timeline.locator(".ev-details .raw")).toHaveText("exit 1: no rule to make target");
    await timeline.getByRole("button", { name: "Raw JSON" }).click();
    await expect(timeline.locator(".ev-details .raw").last()).toContainText("hook_event_name");
    await expect(drawer.getByRole("region", { name: "Conversation" })).toContainText("Tidy the store");
    const side = drawer.getByRole("region", { name: "Measures" });
    await expect(side).toContainText("1 of 2");
    await expect(side).toContainText("Run them");
    await expect(side.locator(".tree .sub")).toContainText("Explore");
    await expect(side).toContainText("src/store.rs");
    await expect(side).not.toContainText("Cost");
    // The drawer updates while it is open.
    await fleet.hook(id, "Stop", { last_assistant_message: "All tidy now." });
    await fleet.hook(id, "SubagentStop", { agent_id: "a1", agent_type: "Explore" });
    await expect(drawer.getByRole("region", { name: "Conversation" })).toContainText("All tidy now.");
    await page.keyboard.press("Escape");
    await expect(drawer).toHaveCount(0);
    await expect(page).toHaveURL(/#\/$/);
    await expect.poll(async () => (await fleet.sessions())[0]?.seen).toBe(true);
  });

  test("follows a session that is always busy", async ({ fleet, page }) => {
    const id = await fleet.start("Busy");
    await fleet.open(`#/session/${id}`);
    const timeline = page.locator("[data-drawer]").getByRole("region", { name: "Timeline" });
    await expect(timeline.locator(".ev").first()).toBeVisible();
    let seen = false;
    const busy = async () => {
      for (let i = 0; !seen; i++) {
        const call = {
          tool_name: "Bash",
          tool_input: { command: `step ${i} of many` },
          tool_use_id: `t${i}`,
        };
        await fleet.hook(id, "PreToolUse", call);
        await fleet.hook(id, "PostToolUse", { ...call, tool_response: {} });
        await page.waitForTimeout(80);
      }
    };
    // The checks run while calls continue: the drawer must not need a pause.
    await Promise.all([
      busy(),
      expect(timeline)
        .toContainText("step 5 of many")
        .finally(() => {
          seen = true;
        }),
    ]);
  });

  test("never shows a state with the reason of another state", async ({ fleet, page }) => {
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
    await why.locator("summary").click();
    await expect(why).toContainText("UserPromptSubmit");
    const state = await why.locator("dd").first().innerText();
    let release = () => {};
    gate = new Promise((resolve) => {
      release = resolve;
    });
    // An explanation that is already requested would be answered with the next state.
    await expect.poll(() => asking).toBe(0);
    await fleet.hook(id, "Stop", { last_assistant_message: "Done." });
    // The drawer's header already has the new state.
    await expect(page.locator("[data-drawer] .state").first()).not.toContainText(state);
    await expect(why.locator("dd").first()).toHaveText(state);
    release();
    await expect(why).toContainText("Stop");
    await expect(why.locator("dd").first()).not.toHaveText(state);
  });

  test("a link to an unknown session shows a message", async ({ fleet, page, errors }) => {
    await fleet.open("#/session/unknown");
    await expect(page.getByRole("dialog")).toContainText("No session found for this link");
    await logged(errors, "404");
  });

  test("shows request, last message, conversation and timeline in this order, with the newest message last", async ({
    fleet,
    page,
  }) => {
    const id = await fleet.start("First prompt");
    for (let turn = 1; turn <= 12; turn++) {
      await fleet.hook(id, "Stop", {
        last_assistant_message: `Answer ${turn}. ${"More words. ".repeat(30)}`,
      });
      await fleet.hook(id, "UserPromptSubmit", { prompt: `Prompt ${turn}` });
    }
    await fleet.hook(id, "Stop", { last_assistant_message: "Both pass. **Shall I merge them?**" });
    await fleet.open(`#/session/${id}`);
    const drawer = page.locator("[data-drawer]");
    const names = () =>
      drawer
        .locator(".drawer-main section")
        .evaluateAll((all) => all.map((s) => s.getAttribute("aria-label")));
    await expect.poll(names).toEqual(["Last message", "Conversation", "Timeline", "Why is it here"]);
    const last = drawer.getByRole("region", { name: "Last message" });
    await expect(last).toContainText("ends in a question");
    await expect(last.locator("b")).toHaveText("Shall I merge them?");
    const talk = drawer.locator(".talk");
    await expect(talk.locator(".msg").first()).toContainText("First prompt");
    await expect(talk.locator(".msg").last()).toContainText("Shall I merge them?");
    await expect(talk.locator(".msg").last()).toBeInViewport();
    await expect(talk.locator(".msg").first()).not.toBeInViewport();
  });

  test("older messages are loaded when the person scrolls up to them", async ({ fleet, page }) => {
    test.setTimeout(120_000);
    const id = await fleet.start("The very first prompt");
    // More events than one page of the drawer has.
    for (let turn = 0; turn < 270; turn++) {
      await fleet.hook(id, "Stop", { last_assistant_message: `Answer ${turn}` });
      await fleet.hook(id, "UserPromptSubmit", { prompt: `Prompt ${turn}` });
    }
    await fleet.open(`#/session/${id}`);
    const talk = page.locator("[data-drawer] .talk");
    await expect(talk.locator(".msg").last()).toContainText("Prompt 269");
    await expect(talk).not.toContainText("The very first prompt");
    await talk.evaluate((list) => list.scrollTo(0, 0));
    await expect(talk).toContainText("The very first prompt");
  });

  test("the whole conversation comes from the transcript, loaded as the person scrolls up", async ({
    fleet,
    page,
  }) => {
    const id = "00000000-0000-4000-8000-0000000c0de0";
    const folder = join(fleet.server.claude, "projects", "-home-dev-api");
    mkdirSync(folder, { recursive: true });
    const transcript_path = join(folder, `${id}.jsonl`);
    const began = Date.now() - 3_600_000;
    const line = (n: number) => {
      const message =
        n % 3 === 0
          ? { content: `Prompt ${n}.` }
          : n % 3 === 1
            ? { content: [{ type: "text", text: `Answer ${n} with **bold** words.` }] }
            : { content: [{ type: "tool_use", name: "Bash", input: { command: `make step-${n}.` } }] };
      const who = n % 3 === 0 ? { type: "user", origin: { kind: "human" } } : { type: "assistant" };
      return `${JSON.stringify({ ...who, timestamp: new Date(began + n * 1_000).toISOString(), message })}\n`;
    };
    const texts = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => from + i).map((n) =>
        n % 3 === 0 ? `Prompt ${n}.` : n % 3 === 1 ? `Answer ${n} with bold words.` : `Bash: make step-${n}.`,
      );
    writeFileSync(transcript_path, Array.from({ length: 300 }, (_, n) => line(n)).join(""));
    await fleet.hook(id, "SessionStart", { source: "resume", transcript_path });
    await fleet.open(`#/session/${id}`);
    const talk = page.locator("[data-drawer] .talk");
    const messages = talk.locator(".msg");
    const shown = () => talk.locator(".msg > :last-child").allInnerTexts();
    await expect(messages.last()).toContainText("Bash: make step-299.");
    await expect(messages.last()).toBeInViewport();
    await expect(talk.locator("[data-kind=text] b").last()).toHaveText("bold");
    expect(await messages.count()).toBeLessThan(300);
    // Each step up loads one page more, and what was shown keeps its place.
    for (let count = await messages.count(); count < 300; count = await messages.count()) {
      const first = await messages.first().innerText();
      await talk.evaluate((list) => list.scrollTo(0, 0));
      await expect.poll(() => messages.count()).toBeGreaterThan(count);
      await expect(messages.filter({ hasText: first.split("\n").at(-1) ?? "" }).first()).toBeInViewport();
    }
    expect(await shown()).toEqual(texts(0, 300));
    await expect(talk.getByRole("button", { name: "Load earlier messages" })).toHaveCount(0);
    // The conversation follows the session, also where a message has no hook of its own.
    await talk.evaluate((list) => list.scrollTo(0, list.scrollHeight));
    appendFileSync(transcript_path, line(300) + line(301) + line(302));
    await fleet.hook(id, "UserPromptSubmit", { prompt: "Prompt 300.", transcript_path });
    await expect(talk).toContainText("step-302.");
    expect(await shown()).toEqual(texts(0, 303));
    await expect(messages.last()).toBeInViewport();
  });

  test("a denial shows its message in the outcome and in the timeline", async ({ fleet, page }) => {
    const id = await fleet.start();
    const verdict = fleet.ask(id, "Bash", { command: "make" });
    await expect.poll(async () => (await fleet.sessions())[0]?.asks.length).toBe(1);
    fleet.server.run("answer", id, "deny", "--message", "use just instead");
    await verdict;
    await fleet.open(`#/session/${id}`);
    const drawer = page.locator("[data-drawer]");
    await expect(drawer.locator(".outcome")).toContainText("use just instead");
    await expect(
      drawer.getByRole("region", { name: "Timeline" }).locator(".ev .r", { hasText: "deny" }),
    ).toContainText("use just instead");
  });
});
