/** Answering asks. The waiting hook is an open HTTP request; its response is what Claude Code would get. */
import { postHook } from "./daemon";
import { allow, expect, logged, questions, test } from "./fleet";

test("Allow on the card answers the waiting hook, and the card moves to Running", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start();
  const verdict = fleet.ask(id, "Bash", { command: "cargo test" });
  const card = fleet.cardIn("Needs You", id);
  await expect(card).toContainText("cargo test");
  await card.getByRole("button", { name: "Allow", exact: false }).first().click();
  expect((await verdict).hookSpecificOutput.decision.behavior).toBe("allow");
  await page.mouse.move(5, 5);
  await expect(fleet.cardIn("Running", id)).toBeVisible();
});

test("Always sends the chosen suggestion, and the drawer shows where it is stored", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const id = await fleet.start();
  const permission_suggestions = [
    {
      type: "addRules",
      rules: [{ toolName: "Bash", ruleContent: "cargo test:*" }],
      behavior: "allow",
      destination: "session",
    },
  ];
  const verdict = fleet.ask(id, "Bash", { command: "cargo test" }, { permission_suggestions });
  await fleet.open(`#/session/${id}`);
  await page
    .getByRole("button", { name: /Always allow commands that begin with cargo test ?this session/ })
    .click();
  expect((await verdict).hookSpecificOutput.decision.updatedPermissions).toEqual(permission_suggestions);
});

test("a path too long for its button shows its end, and the accessible name has all of it", async ({
  fleet,
}) => {
  await fleet.open();
  const id = await fleet.start();
  const path = "/home/dev/work/a-project-with-a-long-name/services/checkout";
  const permission_suggestions = [{ type: "addDirectories", directories: [path], destination: "session" }];
  const verdict = fleet.ask(id, "Bash", { command: "git rebase main" }, { permission_suggestions });
  const always = fleet.cardIn("Needs You", id).getByRole("button", { name: `Always in ${path}` });
  // A card that just appeared is still being laid out.
  await expect(async () => {
    const edges = await always.locator("code").evaluate((code) => {
      const [shown, whole] = [
        code.getBoundingClientRect(),
        code.querySelector("bdi")!.getBoundingClientRect(),
      ];
      return { cut: shown.left - whole.left, beyond: whole.right - shown.right };
    });
    expect(edges.cut).toBeGreaterThan(0);
    expect(edges.beyond).toBeLessThanOrEqual(1);
  }).toPass();
  await always.click();
  expect((await verdict).hookSpecificOutput.decision.updatedPermissions).toEqual(permission_suggestions);
});

test("Deny with a message sends the text, and y does nothing while no card is selected", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const id = await fleet.start();
  const verdict = fleet.ask(id, "Bash", { command: "make" });
  const card = fleet.cardIn("Needs You", id);
  await expect(allow(card)).toBeVisible();
  await fleet.waitForKeys();
  await page.keyboard.press("y");
  await expect(fleet.refusal()).toContainText("no card is selected");
  await expect(card).toHaveAttribute("data-state", "needs_permission");
  await card.getByRole("button", { name: "More ways to answer" }).click();
  await page.getByRole("button", { name: "Deny with message…" }).click();
  await page.getByLabel("Why not, and what instead").fill("use just instea");
  // Letters are typed into the text field, but Ctrl-K still opens the palette.
  await page.keyboard.press("Control+k");
  await expect(page.getByPlaceholder("Command or session")).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.getByLabel("Why not, and what instead")).toBeFocused();
  await page.keyboard.press("d");
  await page.keyboard.press("Enter");
  expect((await verdict).hookSpecificOutput.decision).toMatchObject({
    behavior: "deny",
    message: "use just instead",
  });
});

test("an action that cannot be undone needs two presses", async ({ fleet }) => {
  await fleet.open();
  const id = await fleet.start();
  const verdict = fleet.ask(id, "Bash", { command: "git push --force origin main" });
  const card = fleet.cardIn("Needs You", id);
  await expect(card).toContainText("asks twice");
  await card.getByRole("button", { name: /Allow…/ }).click();
  await card.getByRole("button", { name: /Confirm: force push/ }).click();
  expect((await verdict).hookSpecificOutput.decision.behavior).toBe("allow");
});

test("an input too long for the card is reviewed in the drawer first", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start();
  const command = Array.from({ length: 40 }, (_, i) => `echo line ${i}`).join("\n");
  const verdict = fleet.ask(id, "Bash", { command });
  const card = fleet.cardIn("Needs You", id);
  await expect(card.getByRole("button", { name: "Review…" })).toBeVisible();
  await expect(card.getByRole("button", { name: /^Allow/ })).toHaveCount(0);
  await card.getByRole("button", { name: "Review…" }).click();
  await expect(page.locator("[data-drawer]")).toContainText("echo line 39");
  await page
    .locator("[data-drawer]")
    .getByRole("button", { name: /^Allow/ })
    .click();
  expect((await verdict).hookSpecificOutput.decision.behavior).toBe("allow");
});

test("a form sends defaults, an unticked box, a number among choices, and several choices", async ({
  fleet,
}) => {
  await fleet.server.end();
  fleet.server.configure("hold_elicitation = true\n");
  await fleet.server.start();
  await fleet.open();
  const id = await fleet.start();
  const requested_schema = {
    type: "object",
    required: ["name", "fast", "size"],
    properties: {
      name: { type: "string", title: "Name" },
      fast: { type: "boolean", title: "Fast" },
      size: { type: "integer", title: "Size", enum: [1, 2] },
      colour: { type: "string", title: "Colour", enum: ["red", "blue"] },
      tags: { type: "array", title: "Tags", items: { type: "string", enum: ["a", "b", "c"] } },
      retries: { type: "integer", title: "Retries", default: 3 },
    },
  };
  const payload = {
    session_id: id,
    hook_event_name: "Elicitation",
    cwd: "/home/dev/api",
    mcp_server_name: "tracker",
    message: "Where shall it go?",
    mode: "form",
    requested_schema,
  };
  const verdict = postHook(fleet.server.url, payload, { "x-flightdeck-hold": "1" }).then((response) =>
    response.json(),
  );
  const card = fleet.cardIn("Needs You", id);
  const send = card.getByRole("button", { name: "Send" });
  await expect(send).toBeDisabled();
  await expect(card.locator(".left")).toBeVisible();
  await card.getByLabel("Name").fill("api");
  await card.getByLabel("Size").selectOption("2");
  await card.getByLabel("Colour").selectOption("red");
  await card.getByLabel("Colour").selectOption("Choose");
  await card.getByLabel("c", { exact: true }).check();
  await card.getByLabel("a", { exact: true }).check();
  await send.click();
  expect(((await verdict) as { hookSpecificOutput: unknown }).hookSpecificOutput).toMatchObject({
    action: "accept",
    content: { name: "api", fast: false, size: 2, tags: ["a", "c"], retries: 3 },
  });
});

/** Lines of text, ending with a line that can be recognised. */
const long = (bytes: number) => `${"a line of the report, one of many\n".repeat(bytes / 34)}the last line`;

test("a truncated input is loaded completely in the drawer before it can be allowed", async ({
  fleet,
  page,
  errors,
}) => {
  await fleet.open();
  const id = await fleet.start();
  const verdict = fleet.ask(id, "Write", { file_path: "/home/dev/api/report.md", content: long(70_000) });
  let broken = true;
  await page.route("**/api/asks/*", (route) =>
    broken ? route.fulfill({ status: 503, json: { message: "the log is busy" } }) : route.continue(),
  );
  await fleet.cardIn("Needs You", id).getByRole("button", { name: "Review…" }).click();
  const drawer = page.locator("[data-drawer] .drawer-ask");
  await expect(drawer.getByRole("alert")).toContainText("the log is busy");
  await expect(drawer.getByRole("button", { name: /^Allow/ })).toHaveCount(0);
  await logged(errors, "503");
  broken = false;
  await drawer.getByRole("button", { name: "Try again" }).click();
  await expect(drawer).toContainText("the last line");
  await expect(drawer).not.toContainText("bytes clipped");
  const printed = fleet.server.run("answer", id);
  expect(printed).toContain("the last line");
  expect(printed).not.toContain("bytes clipped");
  await drawer.getByRole("button", { name: /^Allow/ }).click();
  expect((await verdict).hookSpecificOutput.decision.behavior).toBe("allow");
});

test("an input that is truncated in the log too can be denied here but not allowed", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const id = await fleet.start();
  const verdict = fleet.ask(id, "Write", { file_path: "/home/dev/api/report.md", content: long(300_000) });
  await fleet.cardIn("Needs You", id).getByRole("button", { name: "Review…" }).click();
  const drawer = page.locator("[data-drawer] .drawer-ask");
  await expect(drawer.getByRole("button", { name: "Answer in terminal" })).toBeVisible();
  await expect(drawer).toContainText("bytes clipped");
  await expect(drawer.getByRole("button", { name: /^Allow/ })).toHaveCount(0);
  expect(fleet.server.run("answer", id)).toContain("Only a part of it is in the log");
  expect(() => fleet.server.run("answer", id, "allow")).toThrow(
    "is larger than the log keeps, read it in its terminal: add --yes if you mean it",
  );
  expect(() => fleet.server.run("answer", id, "--message", "no")).toThrow("add allow or deny");
  await drawer.getByRole("button", { name: /^Deny/ }).first().click();
  expect((await verdict).hookSpecificOutput.decision.behavior).toBe("deny");
});

test("every field of the input is visible next to Allow", async ({ fleet, page }) => {
  await fleet.open();
  const bare = await fleet.start("leave the sandbox");
  void fleet.ask(bare, "Bash", {
    command: "cargo test -p billing",
    description: "Run the billing tests",
    dangerouslyDisableSandbox: true,
  });
  const posing = await fleet.start("a plan of a kind");
  void fleet.ask(posing, "mcp__shell__run", { plan: "only look around", command: "rm -rf /" });
  const everywhere = await fleet.start("rename it");
  void fleet.ask(everywhere, "Edit", {
    file_path: "/home/dev/api/src/statement/formatAmount.ts",
    old_string: "total",
    new_string: "sum",
    replace_all: true,
  });
  await expect(fleet.cardIn("Needs You", bare).locator(".values")).toHaveText(
    "dangerouslyDisableSandboxtrue",
  );
  await expect(fleet.cardIn("Needs You", posing)).toContainText("rm -rf /");
  await expect(fleet.card(posing)).toContainText("only look around");
  await expect(fleet.cardIn("Needs You", everywhere).locator(".values")).toHaveText("replace_alltrue");
  await fleet.open(`#/session/${bare}`);
  await expect(page.locator("[data-drawer] .drawer-ask")).toContainText("dangerouslyDisableSandbox");
});

test("a question is answered by one press, also with a comma in the label", async ({ fleet }) => {
  await fleet.open();
  const id = await fleet.start();
  const verdict = fleet.ask(id, "AskUserQuestion", { questions });
  await fleet
    .cardIn("Needs You", id)
    .getByRole("button", { name: /Right, then left/ })
    .click();
  const { updatedInput } = (await verdict).hookSpecificOutput.decision;
  expect(updatedInput).toEqual({ questions, answers: { "Which way?": '"Right, then left"' } });
});

test("a question is denied by key, with a message or with an interrupt", async ({ fleet, page }) => {
  await page.addInitScript(() => localStorage.setItem("flightdeck.undo-seconds", "0"));
  await fleet.open();
  const ask = async (name: string) => {
    const id = await fleet.start(name);
    const verdict = fleet.ask(id, "AskUserQuestion", { questions });
    await expect(fleet.cardIn("Needs You", id).getByRole("group", { name: "Which way?" })).toBeVisible();
    await fleet.waitForKeys();
    await fleet.select(id);
    return { card: fleet.card(id), decision: async () => (await verdict).hookSpecificOutput.decision };
  };
  const plain = await ask("plain");
  await expect(page.locator(".key-list")).toContainText("deny");
  await expect(plain.card.getByRole("button", { name: "Deny", exact: false }).first()).toBeVisible();
  await page.keyboard.press("d");
  expect(await plain.decision()).toMatchObject({
    behavior: "deny",
    message: "The user chose not to answer.",
  });

  const worded = await ask("worded");
  await page.keyboard.press("D");
  await expect(page.getByLabel("Why not, and what instead")).toBeFocused();
  await page.keyboard.type("neither, go back");
  await page.keyboard.press("Enter");
  expect(await worded.decision()).toMatchObject({ behavior: "deny", message: "neither, go back" });

  const stopped = await ask("stopped");
  await stopped.card.getByRole("button", { name: "More ways to answer" }).click();
  await expect(page.locator(".menu .menu-item")).toHaveText(["Deny with message…", "Deny and interrupt"]);
  await page.getByRole("button", { name: "Deny and interrupt" }).click();
  expect(await stopped.decision()).toMatchObject({ behavior: "deny", interrupt: true });
});

test("several choices are sent together with an own answer", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start();
  const many = [{ ...questions[0], multiSelect: true }];
  const verdict = fleet.ask(id, "AskUserQuestion", { questions: many });
  const card = fleet.cardIn("Needs You", id);
  await card.getByRole("button", { name: /^Left/ }).click();
  await card.getByRole("button", { name: /Something else/ }).click();
  await page.getByLabel("Your own answer").fill("Straight on");
  await page.keyboard.press("Enter");
  await card.getByRole("button", { name: /Send answer/ }).click();
  expect((await verdict).hookSpecificOutput.decision.updatedInput).toMatchObject({
    answers: { "Which way?": "Left, Straight on" },
  });
});

test("a plan is rendered, approving can accept edits, and rejecting needs a text", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const one = await fleet.start("one");
  const approved = fleet.ask(one, "ExitPlanMode", { plan: "1. Add `sink`\n2. Roll files" });
  await expect(fleet.cardIn("Needs You", one).locator("ol li")).toHaveCount(2);
  // All three long buttons with their key caps are completely visible, also in a narrow lane.
  await page.setViewportSize({ width: 1440, height: 900 });
  await fleet.card(one).getByRole("button", { name: "Approve", exact: false }).first().focus();
  const wide = await fleet
    .card(one)
    .locator(".answer")
    .evaluate((row) => row.scrollWidth - row.clientWidth);
  expect(wide).toBe(0);
  await fleet.card(one).getByRole("button", { name: "Approve, accept edits" }).click();
  expect((await approved).hookSpecificOutput.decision.updatedPermissions).toMatchObject([
    { type: "setMode", mode: "acceptEdits" },
  ]);
  const two = await fleet.start("two");
  const rejected = fleet.ask(two, "ExitPlanMode", { plan: "1. Drop it" });
  await fleet
    .cardIn("Needs You", two)
    .getByRole("button", { name: /Reject/ })
    .click();
  await page.getByLabel("What should change").fill("keep it");
  await page.keyboard.press("Enter");
  expect((await rejected).hookSpecificOutput.decision).toMatchObject({
    behavior: "deny",
    message: "keep it",
  });
});

test("an answer that is too late shows how the ask ended", async ({ fleet, page, errors }) => {
  await fleet.open();
  const id = await fleet.start();
  void fleet.ask(id, "Bash", { command: "make" });
  const card = fleet.cardIn("Needs You", id);
  await expect(card).toBeVisible();
  await page.route("**/api/asks/*/answer", (route) =>
    route.fulfill({
      status: 409,
      json: {
        error: "ALREADY_ENDED",
        resolution: { how: "answered_in_terminal", by: "terminal", at: new Date().toISOString() },
      },
    }),
  );
  await card.getByRole("button", { name: /^Allow/ }).click();
  await expect(card).toContainText("Answered in terminal");
  await logged(errors, "409");
});

test("if no hook waits for the answer, the card shows the daemon's message", async ({
  fleet,
  page,
  errors,
}) => {
  await fleet.open();
  const id = await fleet.start();
  void fleet.ask(id, "Bash", { command: "make" });
  await page.route("**/api/asks/*/answer", (route) =>
    route.fulfill({
      status: 409,
      json: {
        error: "ALREADY_ENDED",
        message: "no hook waits for this answer: answer it in the terminal",
        resolution: null,
      },
    }),
  );
  await fleet
    .cardIn("Needs You", id)
    .getByRole("button", { name: /^Allow/ })
    .click();
  await expect(fleet.card(id).getByRole("alert")).toHaveText(
    "No hook waits for this answer: answer it in the terminal",
  );
  await logged(errors, "409");
});

test("the end of the last ask is shown next to the current activity", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start();
  const verdict = fleet.ask(id, "Bash", { command: "make" });
  await fleet
    .cardIn("Needs You", id)
    .getByRole("button", { name: /^Allow/ })
    .click();
  await verdict;
  await fleet.hook(id, "PostToolUse", {
    tool_name: "Bash",
    tool_input: { command: "make" },
    tool_use_id: `toolu_${id}`,
  });
  await fleet.hook(id, "PreToolUse", {
    tool_name: "Bash",
    tool_input: { command: "cargo test --workspace" },
    tool_use_id: "next",
  });
  await page.mouse.move(5, 5);
  const card = fleet.cardIn("Running", id);
  await expect(card.locator(".outcome")).toHaveText("Allowed here");
  await expect(card.locator(".activity")).toHaveText("cargo test --workspace");
});

test("an answer given in the terminal first is shown on the card and ends the hook", async ({ fleet }) => {
  await fleet.open();
  const id = await fleet.start();
  const verdict = fleet.ask(id, "Bash", { command: "make" });
  // A session without a prompt is in Needs You too.
  await expect(fleet.card(id)).toHaveAttribute("data-state", "needs_permission");
  await fleet.hook(id, "PostToolUse", {
    tool_name: "Bash",
    tool_input: { command: "make" },
    tool_use_id: `toolu_${id}`,
  });
  await expect(fleet.card(id)).toHaveAttribute("data-state", "thinking");
  await expect(verdict).rejects.toThrow();
  expect((await fleet.sessions())[0]?.asks[0]?.resolution).toMatchObject({
    how: "answered_in_terminal",
    by: "terminal",
  });
});

test("an answer that the daemon rejects leaves the ask open and shows the reason", async ({
  fleet,
  page,
  errors,
}) => {
  await fleet.open();
  const id = await fleet.start();
  void fleet.ask(id, "Bash", { command: "make" });
  await page.route("**/api/asks/*/answer", (route) =>
    route.fulfill({ status: 422, json: { message: "mode is not known" } }),
  );
  await fleet
    .cardIn("Needs You", id)
    .getByRole("button", { name: /^Allow/ })
    .click();
  await expect(fleet.card(id).getByRole("alert")).toContainText("mode is not known");
  await expect(fleet.card(id).getByRole("button", { name: /^Allow/ })).toBeEnabled();
  await logged(errors, "422");
});

test("a card with an ask shows its kind, subject, input and time left instead of its label", async ({
  fleet,
}) => {
  await fleet.open();
  const id = await fleet.start();
  void fleet.ask(id, "Bash", { command: "make" });
  const card = fleet.cardIn("Needs You", id);
  await expect(card.locator(".state")).toContainText("Permission");
  await expect(card.locator(".state .what")).toContainText("Bash");
  await expect(card.locator(".in-terminal")).toHaveCount(0);
});

test.describe("a policy", () => {
  const rules = `[policy]
enabled = true
[[policy.rules]]
tool = "Bash"
match = "cargo test*"
decision = "allow"
[[policy.rules]]
tool = "Bash"
match = "make*"
decision = "deny"
message = "use just"
`;

  test.beforeEach(async ({ fleet }) => {
    await fleet.server.end();
    fleet.server.configure(rules);
    await fleet.server.start();
    await fleet.open();
  });

  test("answers by its rules, the card has its mark, and the log names the rule", async ({ fleet, page }) => {
    const allowed = await fleet.start("run the tests");
    expect(
      (await fleet.ask(allowed, "Bash", { command: "cargo test --all" })).hookSpecificOutput.decision
        .behavior,
    ).toBe("allow");
    const denied = await fleet.start("build it");
    const { decision } = (await fleet.ask(denied, "Bash", { command: "make all" })).hookSpecificOutput;
    expect(decision).toMatchObject({ behavior: "deny", message: "use just" });

    const mark = (id: string) => fleet.cardIn("Running", id).locator("[data-by=policy]");
    await expect(mark(allowed)).toContainText("Allowed by policy: Bash cargo test*");
    await expect(mark(denied)).toContainText("Denied by policy: Bash make*");
    await expect(fleet.column("Needs You").locator("[data-card]")).toHaveCount(0);

    await mark(allowed).getByRole("link", { name: /log/ }).click();
    const drawer = page.locator(`[data-drawer="${allowed}"]`);
    await expect(drawer.getByRole("region", { name: "Timeline" })).toContainText(
      "allow (policy: Bash cargo test*)",
    );
    await expect(drawer).toContainText("A rule of the person's policy allowed it");
  });

  test("leaves asks without a rule to the person, whose answer has no mark", async ({ fleet }) => {
    const id = await fleet.start();
    const verdict = fleet.ask(id, "Bash", { command: "cargo run" });
    await fleet
      .cardIn("Needs You", id)
      .getByRole("button", { name: /^Allow/ })
      .first()
      .click();
    expect((await verdict).hookSpecificOutput.decision.behavior).toBe("allow");
    await expect(fleet.card(id).locator(".outcome")).toContainText("Allowed here");
    await expect(fleet.card(id).locator("[data-by=policy]")).toHaveCount(0);
  });
});

test("a narrow card shows the end of the path that would be remembered", async ({ fleet, page }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await fleet.open();
  const id = await fleet.start();
  const permission_suggestions = [
    {
      type: "addRules",
      rules: [{ toolName: "Read", ruleContent: "//home/dev/outside/**" }],
      behavior: "allow",
    },
  ];
  void fleet.ask(id, "Read", { file_path: "/home/dev/outside/a.rs" }, { permission_suggestions });
  const path = fleet.cardIn("Needs You", id).locator(".remember .path").first();
  await expect(path).toBeVisible();
  const cut = await path.evaluate(
    (e) => e.getBoundingClientRect().right - (e.parentElement?.getBoundingClientRect().right ?? 0),
  );
  expect(cut).toBeLessThanOrEqual(0.5);
});
