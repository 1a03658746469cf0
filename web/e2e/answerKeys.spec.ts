/** Answering by keyboard: which ask a key answers, and held or repeated keys. */
import { postHook } from "./daemon";
import { allow, expect, questions, test } from "./fleet";

test("n goes to the next card in need, Enter into its ask, and y allows it", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start();
  const verdict = fleet.ask(id, "Bash", { command: "make" });
  await expect(allow(fleet.cardIn("Needs You", id))).toBeVisible();
  await fleet.waitForKeys();
  await page.keyboard.press("n");
  await expect(fleet.card(id)).toBeFocused();
  await page.keyboard.press("Enter");
  await page.keyboard.press("y");
  expect((await verdict).hookSpecificOutput.decision.behavior).toBe("allow");
});

test("after opening a session by its title and closing it, Enter goes into the ask", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const id = await fleet.start();
  void fleet.ask(id, "Bash", { command: "make" });
  const card = fleet.cardIn("Needs You", id);
  await expect(allow(card)).toBeVisible();
  await card.getByRole("link", { name: "fix the build" }).click();
  await expect(page.locator("[data-drawer]")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.locator("[data-drawer]")).toHaveCount(0);
  await expect(card).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(allow(card)).toBeFocused();
  await expect(page.locator("[data-drawer]")).toHaveCount(0);
});

test("the drawer accepts the keys of its only ask, but of two asks neither", async ({ fleet, page }) => {
  const one = await fleet.start("one");
  const verdict = fleet.ask(one, "Bash", { command: "make" });
  const two = await fleet.start("two");
  const calls = ["left", "right"].map((name) => ({
    tool_name: "Bash",
    tool_input: { command: `make ${name}` },
    tool_use_id: name,
  }));
  for (const call of calls) await fleet.hook(two, "PreToolUse", call);
  for (const { tool_name, tool_input } of calls) {
    // The hook is held until the daemon stops; no test answers it.
    postHook(
      fleet.server.url,
      { session_id: two, hook_event_name: "PermissionRequest", cwd: "/home/dev/api", tool_name, tool_input },
      { "x-flightdeck-hold": "1" },
    ).catch(() => undefined);
  }
  await fleet.open(`#/session/${two}`);
  const drawer = page.locator("[data-drawer]:not([data-new])");
  await expect(drawer.locator("[data-ask]")).toHaveCount(2);
  await expect(drawer.locator(".ask kbd:visible")).toHaveCount(0);
  await page.keyboard.press("y");
  await page.goto(`${fleet.server.url}#/session/${one}`);
  await expect(drawer.locator(".ask kbd:visible")).toHaveText(["y", "n"]);
  await page.keyboard.press("y");
  expect((await verdict).hookSpecificOutput.decision.behavior).toBe("allow");
  const asked = (await fleet.sessions()).find((s) => s.id === two)?.asks ?? [];
  expect(asked.map((ask) => ask.resolution)).toEqual([null, null]);
});

test("a double click and a held key count as one press and send nothing", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start();
  const verdict = fleet.ask(id, "Bash", { command: "git push --force origin main" });
  let answers = 0;
  await page.route("**/api/asks/*/answer", (route) => {
    answers++;
    return route.continue();
  });
  const card = fleet.cardIn("Needs You", id);
  const confirm = card.getByRole("button", { name: /Confirm: force push/ });
  await card.getByRole("button", { name: /Allow…/ }).dblclick();
  await expect(confirm).toBeVisible();
  await expect(page.locator("[data-drawer]")).toHaveCount(0);
  await card.getByRole("button", { name: /^Cancel/ }).click();

  // Keys are ignored right after cards moved.
  await fleet.waitForKeys();
  for (const key of ["y", "Enter"]) {
    await card.getByRole("button", { name: /Allow…/ }).focus();
    // Longer than the confirmation pause: each press after the first is a key repeat.
    for (let held = 0; held < 8; held++) {
      await page.keyboard.down(key);
      await page.waitForTimeout(100);
    }
    await page.keyboard.up(key);
    await expect(confirm).toBeEnabled();
    await expect(confirm).toBeFocused();
    await page.keyboard.press("n");
  }
  expect(answers).toBe(0);

  await card.getByRole("button", { name: /Allow…/ }).focus();
  await page.keyboard.press("y");
  await expect(confirm).toBeEnabled();
  await page.keyboard.press("y");
  expect((await verdict).hookSpecificOutput.decision.behavior).toBe("allow");
});

test("holding Enter on a card goes into its ask and presses nothing", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start();
  void fleet.ask(id, "Bash", { command: "make" });
  const card = fleet.cardIn("Needs You", id);
  await expect(allow(card)).toBeVisible();
  await page.keyboard.press("n");
  await expect(card).toBeFocused();
  for (let held = 0; held < 4; held++) await page.keyboard.down("Enter");
  await page.keyboard.up("Enter");
  await expect(card.getByRole("button", { name: /^Allow/ })).toBeFocused();
  expect((await fleet.sessions())[0]?.asks[0]?.resolution).toBeNull();
});

test("a digit chooses the option with that number", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start();
  const verdict = fleet.ask(id, "AskUserQuestion", { questions: [{ ...questions[0], multiSelect: true }] });
  const card = fleet.cardIn("Needs You", id);
  await card.getByRole("button", { name: /Something else/ }).click();
  await page.getByLabel("Your own answer").fill("Straight on");
  await page.keyboard.press("Enter");
  await fleet.waitForKeys();
  await card.getByRole("button", { name: /^Left/ }).focus();
  // The third number belongs to "Something else…", because own answers have no number.
  await page.keyboard.press("3");
  await page.getByLabel("Your own answer").press("Escape");
  await card.getByRole("button", { name: /Send answer/ }).click();
  expect((await verdict).hookSpecificOutput.decision.updatedInput).toMatchObject({
    answers: { "Which way?": "Straight on" },
  });
});

test("with several questions the digits choose in one and then move to the next", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start();
  const verdict = fleet.ask(id, "AskUserQuestion", {
    questions: [questions[0], { ...questions[0], question: "And then?" }],
  });
  const card = fleet.cardIn("Needs You", id);
  const chosen = (i: number) => card.locator(`[data-question="${i}"] .option[aria-pressed=true]`);
  const digits = (i: number) => card.locator(`[data-question="${i}"] kbd:visible`);
  const send = card.getByRole("button", { name: /Send answers/ });
  await expect(card.locator(".option").first()).toBeVisible();
  await fleet.waitForKeys();
  await card.focus();
  await page.keyboard.press("Enter");
  await expect(digits(0)).toHaveText(["1", "2", "3"]);
  await expect(digits(1)).toHaveCount(0);
  await page.keyboard.press("2");
  await expect(chosen(0)).toContainText("Right, then left");
  await expect(digits(1)).toHaveText(["1", "2", "3"]);
  // The focus moves one frame later.
  await expect(card.locator('[data-question="1"] .option').first()).toBeFocused();
  await page.keyboard.press("1");
  await expect(chosen(1)).toContainText("Left");
  await expect(send).toBeFocused();
  // The digits follow the focus: back to the first question for another choice.
  await chosen(0).focus();
  await page.keyboard.press("1");
  await expect(chosen(0)).toContainText("Left");
  await expect(send).toBeFocused();
  await page.keyboard.press("y");
  expect((await verdict).hookSpecificOutput.decision.updatedInput).toMatchObject({
    answers: { "Which way?": "Left", "And then?": "Left" },
  });
});
