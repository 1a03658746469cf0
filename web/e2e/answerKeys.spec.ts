/** Answering by keyboard: which ask a key answers, and held or repeated keys. */
import type { Page } from "@playwright/test";
import { postHook } from "./daemon";
import { allow, expect, type Fleet, questions, SILENCE_MS, test } from "./fleet";

test("n selects the next card in need, and y allows it without going into the ask", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const id = await fleet.start();
  const verdict = fleet.ask(id, "Bash", { command: "make" });
  await expect(allow(fleet.cardIn("Needs You", id))).toBeVisible();
  await fleet.waitForKeys();
  await page.keyboard.press("n");
  await expect(fleet.card(id)).toBeFocused();
  await page.keyboard.press("y");
  expect((await verdict).hookSpecificOutput.decision.behavior).toBe("allow");
});

test("after opening a session by its title and closing it, y answers its card", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start();
  const verdict = fleet.ask(id, "Bash", { command: "make" });
  const card = fleet.cardIn("Needs You", id);
  await expect(allow(card)).toBeVisible();
  await card.getByRole("link", { name: "fix the build" }).click();
  await expect(page.locator("[data-drawer]")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.locator("[data-drawer]")).toHaveCount(0);
  await expect(card).toBeFocused();
  await fleet.waitForKeys();
  await page.keyboard.press("y");
  expect((await verdict).hookSpecificOutput.decision.behavior).toBe("allow");
});

test("of two asks in the drawer the first has the key caps, and after its answer the second", async ({
  fleet,
  page,
}) => {
  const two = await fleet.start("two");
  const calls = ["left", "right"].map((name) => ({
    tool_name: "Bash",
    tool_input: { command: `make ${name}` },
    tool_use_id: name,
  }));
  for (const call of calls) await fleet.hook(two, "PreToolUse", call);
  const verdicts = calls.map(({ tool_name, tool_input }) => {
    const payload = {
      session_id: two,
      hook_event_name: "PermissionRequest",
      cwd: "/home/dev/api",
      tool_name,
      tool_input,
    };
    const verdict = postHook(fleet.server.url, payload, { "x-flightdeck-hold": "1" });
    verdict.catch(() => undefined);
    return verdict;
  });
  await fleet.open(`#/session/${two}`);
  const asks = page.locator("[data-drawer] [data-ask]");
  await expect(asks).toHaveCount(2);
  await fleet.waitForKeys();
  const first = asks.first();
  await expect(first).toHaveAttribute("data-current", "");
  await expect(asks.last()).not.toHaveAttribute("data-current", "");
  await page.keyboard.press("d");
  await expect(asks.last()).toHaveAttribute("data-current", "");
  await expect(asks.last().locator(".btn > kbd:visible").first()).toHaveText("y");
  const answered = await Promise.race(verdicts.map((verdict, i) => verdict.then(() => i)));
  const resolutions = (await fleet.sessions())[0]?.asks.map((ask) => ask.resolution?.how ?? null);
  expect(resolutions?.toSorted()).toEqual(["denied", null]);
  expect(answered).toBeLessThan(2);
});

test("n means next inside an ask too and never denies, d denies", async ({ fleet, page }) => {
  await fleet.open();
  const one = await fleet.start("one");
  const verdict = fleet.ask(one, "Bash", { command: "make one" });
  const two = await fleet.start("two");
  void fleet.ask(two, "Bash", { command: "make two" });
  await expect(allow(fleet.cardIn("Needs You", one))).toBeVisible();
  await expect(allow(fleet.cardIn("Needs You", two))).toBeVisible();
  await fleet.waitForKeys();
  await allow(fleet.card(one)).focus();
  await page.keyboard.press("n");
  await expect(fleet.card(two)).toBeFocused();
  await page.keyboard.press("N");
  await expect(fleet.card(one)).toBeFocused();
  await page.keyboard.press("d");
  expect((await verdict).hookSpecificOutput.decision.behavior).toBe("deny");
  expect((await fleet.sessions()).find((s) => s.id === two)?.asks[0]?.resolution).toBeNull();
});

test("moves of other cards swallow no answer key", async ({ fleet, page }) => {
  await page.addInitScript(() => localStorage.setItem("flightdeck.undo-seconds", "0"));
  await fleet.open();
  const ids: string[] = [];
  const verdicts: Promise<unknown>[] = [];
  for (let i = 0; i < 8; i++) {
    const id = await fleet.start(`ask ${i}`);
    ids.push(id);
    verdicts.push(fleet.ask(id, "Bash", { command: `make ${i}` }));
    await expect(allow(fleet.cardIn("Needs You", id))).toBeVisible();
  }
  const mover = await fleet.start("mover");
  let moving = true;
  const moves = (async () => {
    while (moving) {
      await fleet.hook(mover, "Stop");
      await fleet.hook(mover, "UserPromptSubmit", { prompt: "go on" });
    }
  })();
  await expect(page.locator(`[data-lane=waiting] [data-card="${mover}"][data-moved]`)).toBeAttached();
  await page.keyboard.press("n");
  const refused: string[] = [];
  for (let pressed = 0; pressed < ids.length; pressed++) {
    await expect(page.locator("[data-card][aria-current=true] [data-ask]:not([data-fresh])")).toBeAttached();
    await page.waitForTimeout(450); // A person reads the next ask; keys before that belong to the one before.
    await page.keyboard.press("y");
    if (await fleet.refusal().count()) refused.push(await fleet.refusal().innerText());
  }
  await Promise.all(verdicts);
  moving = false;
  await moves;
  expect(refused).toEqual([]);
});

test("a key that does nothing says so: without an ask, and right after the ask appeared", async ({
  fleet,
  page,
}) => {
  await page.clock.install();
  await fleet.open();
  const id = await fleet.start();
  await expect(fleet.cardIn("Running", id)).toBeVisible();
  await fleet.select(id);
  await page.keyboard.press("y");
  await expect(fleet.refusal()).toContainText("y did nothing: this session asks nothing");
  await expect(fleet.card(id)).toHaveAttribute("data-refused", /./);
  await page.keyboard.press("q");
  await expect(fleet.refusal()).toContainText("q did nothing");
  await fleet.freezeClock();
  const verdict = fleet.ask(id, "Bash", { command: "make" });
  await fleet.pollFrames(() => allow(fleet.card(id)).count()).toBe(1);
  await page.keyboard.press("y");
  await expect(fleet.refusal()).toContainText(/just now/);
  expect((await fleet.sessions())[0]?.asks[0]?.resolution).toBeNull();
  await page.clock.runFor(500);
  await page.keyboard.press("y");
  await page.clock.runFor(2_100);
  expect((await verdict).hookSpecificOutput.decision.behavior).toBe("allow");
});

test.describe("undo", () => {
  /** The clock stands still, so nothing is sent by time. */
  const twoAsks = async ({ fleet, page }: { fleet: Fleet; page: Page }) => {
    await page.clock.install();
    await fleet.disableTimer(SILENCE_MS);
    await fleet.open();
    const ids = [await fleet.start("one"), await fleet.start("two")];
    const verdicts = ids.map((id, i) => fleet.ask(id, "Bash", { command: `make ${i}` }));
    for (const id of ids) await expect(allow(fleet.cardIn("Needs You", id))).toBeVisible();
    await fleet.waitForKeys();
    await fleet.freezeClock();
    await fleet.select(ids[0]!);
    return { one: ids[0]!, two: ids[1]!, verdicts };
  };
  const resolutionOf = async (fleet: Fleet, id: string) =>
    (await fleet.sessions()).find((s) => s.id === id)?.asks[0]?.resolution ?? null;

  test("an answer by key waits two seconds, z takes it back, and the selection goes to the next ask", async ({
    fleet,
    page,
  }) => {
    const { one, two, verdicts } = await twoAsks({ fleet, page });
    await page.keyboard.press("y");
    await expect(fleet.card(one).locator(".pending")).toContainText("Allowed");
    await expect(page.locator(".undo-note")).toContainText("Allowed Bash");
    await expect(fleet.card(two)).toBeFocused();
    await page.clock.runFor(1_900);
    expect(await resolutionOf(fleet, one)).toBeNull();
    await page.keyboard.press("z");
    await expect(fleet.card(one)).toBeFocused();
    await expect(allow(fleet.card(one))).toBeVisible();
    await page.clock.runFor(2_500);
    expect(await resolutionOf(fleet, one)).toBeNull();
    await page.keyboard.press("z");
    await expect(fleet.refusal()).toContainText("nothing to take back");
    await page.keyboard.press("d");
    await page.clock.runFor(2_100);
    expect((await verdicts[0])?.hookSpecificOutput.decision.behavior).toBe("deny");
    expect(await resolutionOf(fleet, two)).toBeNull();
  });

  test("the same key again sends at once and does not answer the next ask", async ({ fleet, page }) => {
    const { two, verdicts } = await twoAsks({ fleet, page });
    await page.keyboard.press("y");
    await page.keyboard.press("y");
    expect((await verdicts[0])?.hookSpecificOutput.decision.behavior).toBe("allow");
    expect(await resolutionOf(fleet, two)).toBeNull();
  });

  test("a click sends at once, and so does a key if the person chose that", async ({ fleet, page }) => {
    const { one, two, verdicts } = await twoAsks({ fleet, page });
    await allow(fleet.card(one)).click();
    expect((await verdicts[0])?.hookSpecificOutput.decision.behavior).toBe("allow");
    await page.keyboard.press("?");
    await page
      .getByRole("group", { name: "Undo time" })
      .getByRole("button", { name: "Send at once" })
      .click();
    await page.keyboard.press("Escape");
    await fleet.select(two);
    await page.keyboard.press("y");
    expect((await verdicts[1])?.hookSpecificOutput.decision.behavior).toBe("allow");
  });
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
    await page.keyboard.press("Escape");
    await expect(confirm).toHaveCount(0);
  }
  expect(answers).toBe(0);

  await card.getByRole("button", { name: /Allow…/ }).focus();
  await page.keyboard.press("y");
  await expect(confirm).toBeEnabled();
  await page.keyboard.press("y");
  expect((await verdict).hookSpecificOutput.decision.behavior).toBe("allow");
});

test("a confirmation does not stay armed on a card that the selection has left", async ({ fleet, page }) => {
  await fleet.open();
  const ids = [await fleet.start("one"), await fleet.start("two")];
  for (const id of ids) void fleet.ask(id, "Bash", { command: `git push --force origin ${id}` });
  const confirm = page.getByRole("button", { name: /Confirm: force push/ });
  for (const id of ids) await expect(fleet.cardIn("Needs You", id)).toBeVisible();
  await fleet.select(ids[0] ?? "");
  await fleet.waitForKeys();
  await page.keyboard.press("y");
  await expect(confirm).toBeVisible();
  await fleet.select(ids[1] ?? "");
  await expect(confirm).toHaveCount(0);
});

test("holding Enter on a card opens the session and presses nothing", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start();
  void fleet.ask(id, "Bash", { command: "make" });
  const card = fleet.cardIn("Needs You", id);
  await expect(allow(card)).toBeVisible();
  await page.keyboard.press("n");
  await expect(card).toBeFocused();
  for (let held = 0; held < 4; held++) await page.keyboard.down("Enter");
  await page.keyboard.up("Enter");
  await expect(page.locator(`[data-drawer="${id}"]`)).toBeVisible();
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
  await card.getByRole("button", { name: /Left shorter/ }).focus();
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
  await card.locator(".option").first().focus();
  await page.keyboard.press("Tab");
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

test("several questions, one with several choices, are answered by keyboard alone", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const id = await fleet.start();
  const [way] = questions;
  const verdict = fleet.ask(id, "AskUserQuestion", {
    questions: [
      { ...way, multiSelect: true },
      { ...way, question: "And then?" },
    ],
  });
  const card = fleet.cardIn("Needs You", id);
  const picked = (i: number) => card.locator(`[data-question="${i}"] .option[aria-pressed=true]`);
  await expect(card.locator(".option").first()).toBeVisible();
  await fleet.waitForKeys();
  await page.keyboard.press("n");
  await page.keyboard.press("y");
  await expect(fleet.refusal()).toContainText("choose at least one first");
  await page.keyboard.press("1");
  await page.keyboard.press("2");
  await expect(picked(0)).toHaveCount(2);
  await page.keyboard.press("1");
  await expect(picked(0)).toHaveCount(1);
  // y goes to the question without an answer, [ goes back, ] forward again.
  await page.keyboard.press("y");
  await expect(card.locator("[data-question='1'][data-numbered]")).toBeAttached();
  await page.keyboard.press("[");
  await expect(card.locator("[data-question='0'][data-numbered]")).toBeAttached();
  await page.keyboard.press("]");
  await page.keyboard.press("1");
  await expect(picked(1)).toContainText("Left");
  await page.keyboard.press("y");
  expect((await verdict).hookSpecificOutput.decision.updatedInput).toMatchObject({
    answers: { "Which way?": '"Right, then left"', "And then?": "Left" },
  });
});

test("selected, focused and picked look different", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start();
  void fleet.ask(id, "AskUserQuestion", { questions: [{ ...questions[0], multiSelect: true }] });
  const card = fleet.cardIn("Needs You", id);
  const option = card.locator(".option").first();
  await expect(option).toBeVisible();
  await fleet.waitForKeys();
  await page.keyboard.press("n");
  await page.keyboard.press("2");
  await card.locator(".option").first().focus();
  const looks = await page.evaluate((card) => {
    const style = (selector: string) => getComputedStyle(document.querySelector(`${card} ${selector}`)!);
    const [focused, picked] = [style(".option:nth-child(1)"), style(".option:nth-child(2)")];
    return {
      focusedOutline: focused.outlineStyle,
      pickedOutline: picked.outlineStyle,
      focusedTick: style(".option:nth-child(1) .tick").backgroundColor,
      pickedTick: style(".option:nth-child(2) .tick").backgroundColor,
    };
  }, `[data-card="${id}"]`);
  expect(looks.focusedOutline).toBe("solid");
  expect(looks.pickedOutline).toBe("none");
  expect(looks.pickedTick).not.toBe(looks.focusedTick);
  await expect(card).toHaveAttribute("aria-current", "true");
});

test("the line at the bottom lists the keys that are valid now, and ? lists all", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start();
  const verdict = fleet.ask(id, "Bash", { command: "make" });
  await expect(allow(fleet.cardIn("Needs You", id))).toBeVisible();
  const valid = page.locator(".key-list");
  await expect(valid).not.toContainText("allow");
  await fleet.waitForKeys();
  await page.keyboard.press("n");
  await expect(valid).toContainText("yallow");
  await expect(valid).toContainText("ddeny");
  // Nothing was suggested to remember, so there is no key for it.
  await expect(valid).not.toContainText("always");
  await page.keyboard.press("y");
  await expect(valid).toContainText("zundo");
  await verdict;
  await page.mouse.move(5, 5);
  await expect(fleet.cardIn("Running", id)).toBeVisible();
  await expect(valid).not.toContainText("allow");
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keyboard" });
  for (const text of ["deny with a message", "take the last answer back", "question before and after"])
    await expect(help).toContainText(text);
});
