/** "Make this a rule" from an ask: once with the daemon's replies given here, once with the daemon itself. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { allow, expect, test } from "./fleet";

const rulePanel = (page: Page) => page.getByRole("region", { name: "Make this a rule" });

/** The rules that the page writes from now on. */
function rulesWritten(page: Page): string[] {
  const written: string[] = [];
  page.on("request", (request) => {
    if (new URL(request.url()).pathname === "/api/policy/rules") written.push(request.postData() ?? "");
  });
  return written;
}

test("a rule is made of an ask, with a preview of what it would have answered", async ({ fleet, page }) => {
  const written: unknown[] = [];
  await page.route("**/api/openapi.json", async (route) => {
    const spec = (await (await route.fetch()).json()) as { paths: Record<string, unknown> };
    await route.fulfill({ json: { ...spec, paths: { ...spec.paths, "/api/policy/rules": {} } } });
  });
  const draft = (match: string) => ({ tool: "Bash", match, project: null, decision: "allow", message: null });
  await page.route("**/api/asks/*/rules", (route) =>
    route.fulfill({
      json: {
        enabled: false,
        rules: [
          { rule: draft("cargo test --all"), name: "Bash cargo test --all", would_answer: true },
          { rule: draft("cargo test*"), name: "Bash cargo test*", would_answer: true },
        ],
      },
    }),
  );
  await page.route("**/api/policy/preview", (route) => {
    const { rule } = route.request().postDataJSON() as { rule: { match: string } };
    const answered = rule.match.endsWith("*") ? 14 : 3;
    const by_rule = [{ name: "", decision: "allow", count: answered, examples: ["cargo test -p core"] }];
    return route.fulfill({
      json: { enabled: false, asks: 132, answered, allowed: answered, denied: 0, by_rule, left: [] },
    });
  });
  await page.route("**/api/policy/rules", (route) => {
    written.push(route.request().postDataJSON());
    return route.fulfill({
      json: { rule: "Bash cargo test*", added: true, enabled: true, rules: 1, path: "config.toml" },
    });
  });
  await fleet.open();
  const id = await fleet.start();
  void fleet.ask(id, "Bash", { command: "cargo test --all" });
  await expect(allow(fleet.cardIn("Needs You", id))).toBeVisible();
  await fleet.waitForKeys();
  await fleet.select(id);
  await page.keyboard.press("w");
  const panel = rulePanel(page);
  await expect(panel.getByRole("status")).toHaveText(
    /Of 132 past requests it would have answered 3, such as/,
  );
  // While the rule is made, no key answers the request.
  await expect(panel.getByRole("radio").first()).toBeFocused();
  await fleet.waitForKeys();
  await page.keyboard.press("d");
  await expect(fleet.refusal()).toContainText("a rule is being made");
  await page.keyboard.press("Escape");
  await expect(panel).toHaveCount(0);
  await expect(allow(page.locator("[data-drawer]"))).toBeVisible();
  await page.keyboard.press("w");
  await expect(page.locator("[data-drawer] .keys")).toContainText("write the rule, turn the policy on");
  await page.keyboard.press("2");
  await expect(panel.getByRole("status")).toContainText("it would have answered 14");
  await expect(panel).toContainText("The policy is off");
  await expect(panel).toContainText("This request stays open");
  await expect(panel.getByRole("button", { name: "Write the rule, turn the policy on" })).toBeVisible();
  await page.keyboard.press("y");
  await expect(panel).toHaveCount(0);
  expect(written).toEqual([{ rule: draft("cargo test*"), enable: true }]);
  // The ask itself still waits for the person.
  await expect(allow(page.locator("[data-drawer]"))).toBeVisible();
});

test("a rule that the page makes is written by the daemon and answers the next equal ask without a restart", async ({
  fleet,
  page,
}) => {
  const config = join(fleet.server.env.FLIGHTDECK_HOME, "config.toml");
  const written = () => (existsSync(config) ? readFileSync(config, "utf8") : "");
  await fleet.open();
  // Two requests of the past: the rule would have answered one of them.
  for (const command of ["make test", "make deploy"]) {
    const id = await fleet.start(command);
    const verdict = fleet.ask(id, "Bash", { command });
    await allow(fleet.cardIn("Needs You", id)).click();
    await verdict;
  }
  const id = await fleet.start("asks");
  const verdict = fleet.ask(id, "Bash", { command: "make test" });
  await expect(allow(fleet.cardIn("Needs You", id))).toBeVisible();
  await fleet.waitForKeys();
  await fleet.select(id);
  await page.keyboard.press("w");
  const panel = rulePanel(page);
  await expect(panel.getByRole("status")).toHaveText(
    "Of 3 past requests it would have answered 2, such as Bash: make test.",
  );
  await expect(panel).toContainText("The policy is off");
  expect(written()).not.toContain("make test");
  await panel.getByRole("button", { name: "Write the rule, turn the policy on" }).click();
  await expect(panel).toHaveCount(0);
  await expect.poll(written).toContain("make test");
  // The ask itself still waits for the person.
  await allow(page.locator("[data-drawer]")).click();
  expect((await verdict).hookSpecificOutput.decision.behavior).toBe("allow");
  await page.keyboard.press("Escape");
  const next = await fleet.start("next");
  expect((await fleet.ask(next, "Bash", { command: "make test" })).hookSpecificOutput.decision.behavior).toBe(
    "allow",
  );
  await expect(fleet.cardIn("Running", next).locator("[data-by=policy]")).toContainText("by policy");
  // Another command is not covered.
  const other = await fleet.start("other");
  void fleet.ask(other, "Bash", { command: "make deploy" });
  await expect(allow(fleet.cardIn("Needs You", other))).toBeVisible();
});

test("the panel closes when the person leaves its request, and y answers the request again", async ({
  fleet,
  page,
}) => {
  const written = rulesWritten(page);
  await fleet.open();
  const id = await fleet.start("one");
  const verdict = fleet.ask(id, "Bash", { command: "make one" });
  const other = await fleet.start("two");
  void fleet.ask(other, "Bash", { command: "make two" });
  for (const session of [id, other]) await expect(allow(fleet.cardIn("Needs You", session))).toBeVisible();
  const drawer = page.locator("[data-drawer]");
  const open = page.locator(`[data-drawer="${id}"]`);
  const ways = {
    mouse: () => page.locator(".drawer-head").getByRole("button", { name: "Close" }).click(),
    back: () => page.goBack(),
    n: () => page.keyboard.press("n"),
  };
  for (const [way, leave] of Object.entries(ways)) {
    await fleet.waitForKeys();
    await fleet.select(id);
    await page.keyboard.press("w");
    await expect(rulePanel(page).getByRole("radio").first()).toBeFocused();
    await leave();
    await expect(open, way).toHaveCount(0);
    if (way === "n") await page.goBack();
    await expect(drawer).toHaveCount(0);
    await fleet.select(id);
    await page.keyboard.press("o");
    await expect(allow(open), way).toBeVisible();
    await expect(rulePanel(page), way).toHaveCount(0);
    if (way !== "n") await page.goBack();
  }
  await fleet.waitForKeys();
  await page.keyboard.press("y");
  expect((await verdict).hookSpecificOutput.decision.behavior).toBe("allow");
  expect(written).toEqual([]);
});

test("the panel closes when the person goes on to another request of the same session", async ({
  fleet,
  page,
}) => {
  const written = rulesWritten(page);
  const id = await fleet.start();
  const [one, two] = await fleet.askAtOnce(id, ["make one", "make two"]);
  await fleet.open(`#/session/${id}`);
  const asks = page.locator("[data-drawer] [data-ask]");
  await expect(asks).toHaveCount(2);
  await fleet.waitForKeys();
  await page.keyboard.press("w");
  await expect(rulePanel(page).getByRole("radio").first()).toBeFocused();
  await allow(asks.last()).focus();
  await expect(rulePanel(page)).toHaveCount(0);
  await expect(allow(asks.first())).toBeVisible();
  // Either of them may have arrived first.
  const last = (await asks.last().innerText()).includes("make one") ? one : two;
  await page.keyboard.press("y");
  expect((await last)?.hookSpecificOutput.decision.behavior).toBe("allow");
  expect(written).toEqual([]);
});

test("rules that are found late leave the focus where the person moved it", async ({ fleet, page }) => {
  let find = () => {};
  const found = new Promise<void>((resolve) => {
    find = resolve;
  });
  await page.route("**/api/asks/*/rules", async (route) => {
    await found;
    await route.continue();
  });
  const id = await fleet.start();
  void fleet.ask(id, "Bash", { command: "make" });
  await fleet.open(`#/session/${id}`);
  await expect(allow(page.locator("[data-drawer]"))).toBeVisible();
  await fleet.waitForKeys();
  await page.keyboard.press("w");
  await expect(rulePanel(page).getByRole("button", { name: "Cancel" })).toBeVisible();
  const elsewhere = page.getByRole("button", { name: "Copy link" });
  await elsewhere.focus();
  find();
  await expect(rulePanel(page).getByRole("status")).toContainText("past request");
  await expect(elsewhere).toBeFocused();
});
