/** Several asks at once: asks that are alike, and picked cards. */
import { allow, expect, test } from "./fleet";

const NAMES = ["one", "two", "three"];

test("asks for the same command are one card, and one press answers all of them", async ({ fleet, page }) => {
  await fleet.open();
  const ids = [];
  const verdicts = [];
  for (const name of NAMES) {
    const id = await fleet.start(name);
    ids.push(id);
    verdicts.push(fleet.ask(id, "Bash", { command: "cargo test", description: `Tests of ${name}` }));
  }
  const other = await fleet.start("other");
  const alone = fleet.ask(other, "Bash", { command: "ls" });
  await expect(allow(fleet.card(other))).toBeVisible();
  const bunch = page.locator(".card.bunch");
  await expect(bunch).toContainText("Bash in 3 sessions");
  await expect(bunch.locator(".cmd")).toHaveText(["cargo test"]);
  await expect(bunch.locator(".asking a")).toHaveCount(3);
  await expect(fleet.column("Needs You").locator("[data-card]")).toHaveCount(2);
  // Each session still counts.
  await expect(page.locator(".instrument.need .readout")).toHaveText("4");
  await expect(page.locator(".lane-name").first()).toHaveText("Blocked 4");
  await fleet.waitForKeys();
  await bunch.focus();
  await page.keyboard.press("a");
  await expect(fleet.refusal()).toContainText("u shows them one by one");
  await page.keyboard.press("y");
  await expect(page.locator(".undo-note")).toContainText("Allowed 3");
  for (const verdict of await Promise.all(verdicts))
    expect(verdict.hookSpecificOutput.decision.behavior).toBe("allow");
  for (const id of ids) await expect(fleet.cardIn("Running", id)).toBeVisible();
  // The ask that is not alike was not answered; the selection went to it.
  await expect(fleet.card(other)).toHaveAttribute("aria-current", "true");
  await expect(fleet.card(other)).toHaveAttribute("data-state", "needs_permission");
  await page.keyboard.press("d");
  expect((await alone).hookSpecificOutput.decision.behavior).toBe("deny");
});

test("z takes the answer to all of them back, and u shows them one by one", async ({ fleet, page }) => {
  await fleet.open();
  const ids = [];
  for (const name of NAMES) {
    const id = await fleet.start(name);
    ids.push(id);
    void fleet.ask(id, "Bash", { command: "make" });
  }
  const bunch = page.locator(".card.bunch");
  await expect(bunch).toContainText("in 3 sessions");
  await fleet.waitForKeys();
  await bunch.focus();
  await page.keyboard.press("d");
  await page.keyboard.press("z");
  await expect(page.locator(".undo-note")).toHaveCount(0);
  for (const { agent_state } of await fleet.sessions()) expect(agent_state.state).toBe("needs_permission");
  await fleet.waitForKeys();
  await page.keyboard.press("u");
  for (const id of ids) await expect(allow(fleet.cardIn("Needs You", id))).toBeVisible();
  await expect(bunch).toHaveCount(0);
});

test("different commands with the same suggested rule are one card that shows each of them", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const permission_suggestions = [
    {
      type: "addRules",
      rules: [{ toolName: "Bash", ruleContent: "cargo test:*" }],
      behavior: "allow",
      destination: "session",
    },
  ];
  for (const part of ["core", "web"]) {
    const id = await fleet.start(part);
    void fleet.ask(id, "Bash", { command: `cargo test -p ${part}` }, { permission_suggestions });
  }
  const bunch = page.locator(".card.bunch");
  const commands = async () => (await bunch.locator(".cmd").allInnerTexts()).sort();
  await expect.poll(commands).toEqual(["cargo test -p core", "cargo test -p web"]);
  await expect(bunch.locator(".in-common")).toHaveText(
    "2 different commands that one rule would cover: commands that begin with cargo test",
  );
  await expect(bunch.getByRole("button", { name: "Allow all 2" })).toBeVisible();
});

test("of many different commands the first three are shown, and all of them before they are allowed", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const permission_suggestions = [
    { type: "addRules", rules: [{ toolName: "Bash", ruleContent: "make:*" }], behavior: "allow" },
  ];
  const verdicts = [];
  for (const part of ["a", "b", "c", "d", "e"]) {
    const id = await fleet.start(part);
    verdicts.push(fleet.ask(id, "Bash", { command: `make ${part}` }, { permission_suggestions }));
    await expect(page.locator("[data-ask]").first()).toBeVisible();
  }
  const bunch = page.locator(".card.bunch");
  await expect(bunch.locator(".in-common")).toContainText("5 different commands");
  await expect(bunch.locator(".cmd")).toHaveCount(3);
  await expect(bunch.getByRole("button", { name: "+2 more" })).toBeVisible();
  await fleet.waitForKeys();
  await bunch.focus();
  await expect(page.locator(".key-list")).toContainText("show all 5");
  await page.keyboard.press("y");
  await expect(bunch.locator(".cmd")).toHaveCount(5);
  for (const { agent_state } of await fleet.sessions()) expect(agent_state.state).toBe("needs_permission");
  await fleet.waitForKeys();
  await page.keyboard.press("y");
  for (const verdict of await Promise.all(verdicts))
    expect(verdict.hookSpecificOutput.decision.behavior).toBe("allow");
});

test("commands that cannot be undone are never answered together", async ({ fleet, page }) => {
  await fleet.open();
  for (const name of NAMES) {
    const id = await fleet.start(name);
    void fleet.ask(id, "Bash", { command: "git push --force origin main" });
    await expect(fleet.cardIn("Needs You", id).getByRole("button", { name: "Allow…" })).toBeVisible();
  }
  await expect(page.locator(".card.bunch")).toHaveCount(0);
});

test("x and shift pick cards, and y allows all of them; a card that does not fit refuses", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const ids: string[] = [];
  const verdicts = [];
  for (const name of NAMES) {
    const id = await fleet.start(name);
    ids.push(id);
    verdicts.push(fleet.ask(id, "Bash", { command: `make ${name}` }));
    await expect(allow(fleet.cardIn("Needs You", id))).toBeVisible();
  }
  const idle = await fleet.start("idle");
  await fleet.hook(idle, "Stop", { last_assistant_message: "Done." });
  await expect(fleet.cardIn("Needs You", idle)).toBeVisible();
  await fleet.waitForKeys();
  const lane = page.locator("[data-lane=blocked] [data-card]");
  await lane.first().focus();
  await page.keyboard.press("x");
  await expect(page.locator(".key-target")).toHaveText("1 picked");
  await page.keyboard.press("J");
  await page.keyboard.press("J");
  await expect(page.locator("[data-picked]")).toHaveCount(3);
  await expect(page.locator(".key-list")).toContainText("allow 3");
  // An idle card asks nothing: then y does nothing to any of them, and says so.
  await fleet.select(idle);
  await page.keyboard.press("x");
  await page.keyboard.press("y");
  await expect(fleet.refusal()).toContainText("1 of 4 picked");
  await page.keyboard.press("x");
  await expect(page.locator("[data-picked]")).toHaveCount(3);
  await page.keyboard.press("y");
  for (const verdict of await Promise.all(verdicts))
    expect(verdict.hookSpecificOutput.decision.behavior).toBe("allow");
  await expect(page.locator("[data-picked]")).toHaveCount(0);
});

test("shift and click pick a range, Esc clears it, and picked idle cards are parked together", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  for (const name of NAMES) {
    const id = await fleet.start(name);
    await fleet.hook(id, "Stop", { last_assistant_message: "Done." });
    await expect(fleet.cardIn("Needs You", id)).toBeVisible();
  }
  await fleet.waitForKeys();
  const cards = page.locator("[data-lane=waiting] [data-card]");
  await expect(cards).toHaveCount(3);
  await cards.first().focus();
  await cards
    .last()
    .locator(".last-said")
    .click({ modifiers: ["Shift"] });
  await expect(page.locator("[data-picked]")).toHaveCount(3);
  await expect(page.locator("[data-drawer]")).toHaveCount(0);
  await page.keyboard.press("Escape");
  await expect(page.locator("[data-picked]")).toHaveCount(0);
  await cards.first().focus();
  await page.keyboard.press("J");
  await expect(page.locator("[data-picked]")).toHaveCount(2);
  await page.keyboard.press("p");
  await page.keyboard.press("h");
  await expect(page.getByRole("button", { name: /^Parked 2/ })).toBeVisible();
  await expect(cards).toHaveCount(1);
});

test("asks of one session that are alike are answered together on its card, beside what else it asks", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const id = await fleet.start("one");
  const verdicts = await fleet.askAtOnce(id, ["cargo test", "make release", "cargo test"]);
  const card = fleet.cardIn("Needs You", id);
  await expect(card.locator("[data-ask]")).toHaveCount(2);
  await expect(card.locator(".cmd")).toHaveText(["cargo test", "make release"]);
  await expect(card.locator(".asking a")).toContainText("2 times");
  // It is still the card of its session.
  await expect(card).toContainText("one");
  await fleet.waitForKeys();
  await fleet.select(id);
  await page.keyboard.press("y");
  await expect(page.locator(".undo-note")).toContainText("Allowed 2");
  for (const i of [0, 2]) expect((await verdicts[i])?.hookSpecificOutput.decision.behavior).toBe("allow");
  await expect(card.locator("[data-ask]")).toHaveCount(1);
  await fleet.waitForKeys();
  await page.keyboard.press("d");
  expect((await verdicts[1])?.hookSpecificOutput.decision.behavior).toBe("deny");
});

test("an ask counts among those of other sessions although its session asks something else too", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const both = await fleet.start("both");
  const [make, other] = await fleet.askAtOnce(both, ["make", "git status"]);
  const single = await fleet.start("single");
  const alone = fleet.ask(single, "Bash", { command: "make" });
  const together = fleet.card(single).getByRole("button", { name: "Allow all 2" });
  await expect(together).toBeVisible();
  await expect(fleet.card(both).locator("[data-ask]")).toHaveCount(2);
  await fleet.waitForKeys();
  await together.click();
  for (const verdict of [make, alone])
    expect((await verdict)?.hookSpecificOutput.decision.behavior).toBe("allow");
  await expect(fleet.card(both).locator("[data-ask]")).toHaveCount(1);
  await fleet.waitForKeys();
  await fleet.select(both);
  await page.keyboard.press("u");
  await expect(fleet.refusal()).toContainText("no such key here");
  await page.keyboard.press("d");
  expect((await other)?.hookSpecificOutput.decision.behavior).toBe("deny");
});

test("a picked card is answered with all that it asks", async ({ fleet, page }) => {
  await fleet.open();
  const two = await fleet.start("two");
  const verdicts = await fleet.askAtOnce(two, ["make a", "make b"]);
  const one = await fleet.start("one");
  verdicts.push(fleet.ask(one, "Bash", { command: "make c" }));
  for (const id of [one, two]) await expect(allow(fleet.card(id)).first()).toBeVisible();
  await expect(fleet.card(two).locator("[data-ask]")).toHaveCount(2);
  await fleet.waitForKeys();
  for (const id of [one, two]) {
    await fleet.select(id);
    await page.keyboard.press("x");
  }
  await expect(page.locator(".key-list")).toContainText("allow 3");
  await page.keyboard.press("y");
  for (const verdict of await Promise.all(verdicts))
    expect(verdict.hookSpecificOutput.decision.behavior).toBe("allow");
});
