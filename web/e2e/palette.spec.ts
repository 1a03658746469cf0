/** The command palette: what needs the person comes first, and requests are answered without opening their session. */
import type { Page } from "@playwright/test";
import { allow, expect, test } from "./fleet";

const options = (page: Page) => page.getByRole("option");

async function search(page: Page, text: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await expect(page.getByPlaceholder("Command or session")).toBeFocused();
  await page.keyboard.type(text);
}

test("a command is allowed or denied from the palette", async ({ fleet, page }) => {
  await fleet.open();
  for (const [decision, name] of [
    ["allow", "Allow"],
    ["deny", "Deny"],
  ] as const) {
    const id = await fleet.start(`Release the ${name} build`);
    const verdict = fleet.ask(id, "Bash", { command: `make ${decision}-release` });
    await expect(allow(fleet.cardIn("Needs You", id))).toBeVisible();
    await search(page, `${name} build`);
    await expect(options(page)).toHaveCount(3);
    await expect(options(page).first()).toContainText(`Release the ${name} build`);
    await expect(options(page).first()).toContainText("Permission");
    await page.keyboard.press("ArrowDown");
    if (decision === "deny") await page.keyboard.press("ArrowDown");
    await expect(page.getByRole("option", { selected: true })).toContainText(
      `${name} make ${decision}-release`,
    );
    await page.keyboard.press("Enter");
    await expect(page.getByRole("dialog")).toHaveCount(0);
    expect((await verdict).hookSpecificOutput.decision.behavior).toBe(decision);
  }
});

const REQUESTS: [string, Record<string, unknown>, string, string][] = [
  ["Read", { file_path: "/etc/hosts" }, "Allow Read /etc/hosts", "/etc/hosts"],
  [
    "Edit",
    { file_path: "/home/dev/api/src/a.rs", old_string: "one", new_string: "two" },
    "Allow Edit src/a.rs",
    "two",
  ],
  ["WebFetch", { url: "https://example.org/x" }, "Allow WebFetch https://example.org/x", "example.org/x"],
  ["mcp__tickets__close", { id: "T-7" }, "Allow mcp__tickets__close T-7", "T-7"],
  ["Bash", { command: "make sink-1\nmake sink-2" }, "Allow make sink-1", "make sink-2"],
  [
    "ExitPlanMode",
    { plan: "1. Add the sink\n2. Roll the files" },
    "Approve plan: 1. Add the sink",
    "Roll the files",
  ],
];

for (const [tool, input, text, shown] of REQUESTS)
  test(`a ${tool} request is answered from the palette, beside all of it`, async ({ fleet, page }) => {
    await fleet.open();
    const id = await fleet.start("Look at it");
    const verdict = fleet.ask(id, tool, input);
    await expect(fleet.cardIn("Needs You", id).locator("[data-ask]")).toBeVisible();
    // The request is found by its own text.
    await search(page, text.split(" ").at(-1) ?? "");
    await expect(options(page)).toHaveCount(3);
    await expect(page.locator("#palette-ask")).toHaveCount(0);
    await page.keyboard.press("ArrowDown");
    await expect(page.getByRole("option", { selected: true })).toContainText(text);
    await expect(page.locator("#palette-ask")).toContainText(shown);
    await page.keyboard.press("Enter");
    await expect(page.getByRole("dialog")).toHaveCount(0);
    expect((await verdict).hookSpecificOutput.decision.behavior).toBe("allow");
  });

test("a plan is rejected from the palette with a text", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start("Plan it");
  const verdict = fleet.ask(id, "ExitPlanMode", { plan: "1. Drop it" });
  await expect(fleet.cardIn("Needs You", id).locator("[data-ask]")).toBeVisible();
  await search(page, "reject");
  await expect(options(page)).toHaveCount(0);
  await page.getByPlaceholder("Command or session").fill("Plan it");
  await page.getByRole("option", { name: /^Reject plan: 1. Drop it…/ }).click();
  await expect(page.locator("[data-drawer]").getByLabel("What should change")).toBeFocused();
  await page.keyboard.type("keep it");
  await page.keyboard.press("Enter");
  expect((await verdict).hookSpecificOutput.decision).toMatchObject({ behavior: "deny", message: "keep it" });
});

test("before text is typed the foremost requests can be answered, and the first line only opens", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const verdicts = [];
  for (const name of ["one", "two", "three", "four"]) {
    const id = await fleet.start(name);
    verdicts.push(fleet.ask(id, "Read", { file_path: `/etc/${name}` }));
    await expect(fleet.cardIn("Needs You", id).locator("[data-ask]")).toBeVisible();
  }
  await search(page, "");
  await expect(options(page).first()).toContainText("Permission");
  await expect(options(page).first()).not.toContainText("Allow");
  await expect(options(page).filter({ hasText: /^(Allow|Deny) Read/ })).toHaveCount(6);
  await expect(options(page).filter({ hasText: "Next that needs you" })).toHaveCount(1);
  await page.keyboard.press("ArrowDown");
  const line = await page.getByRole("option", { selected: true }).innerText();
  expect(line).toContain("Allow Read /etc/four");
  await page.keyboard.press("Enter");
  expect((await verdicts[3])?.hookSpecificOutput.decision.behavior).toBe("allow");
});

test("nothing can be answered from the palette without a connection", async ({
  fleet,
  page,
  daemonProxy,
}) => {
  await fleet.open("", daemonProxy.url);
  const id = await fleet.start("Release the build");
  void fleet.ask(id, "Bash", { command: "make release" });
  await expect(allow(fleet.cardIn("Needs You", id))).toBeVisible();
  await search(page, "the build");
  await expect(options(page)).toHaveCount(3);
  daemonProxy.cut();
  await expect(page.locator("[data-connection=lost]")).toBeAttached();
  // Also if the palette was open before.
  await expect(options(page)).toHaveCount(1);
  await expect(options(page)).toContainText("Release the build");
});

test("a parked session is not among those that need the person", async ({ fleet, page }) => {
  await fleet.open();
  const parked = await fleet.start("Ask me later");
  await fleet.hook(parked, "Stop", { last_assistant_message: "Should I drop it now or later?" });
  const asking = await fleet.start("Ask me now");
  await fleet.hook(asking, "Stop", { last_assistant_message: "Should I drop it now or later?" });
  await expect.poll(async () => (await fleet.sessions()).map((s) => s.waiting?.counts)).toEqual([true, true]);
  await fetch(`${fleet.server.url}api/sessions/${parked}/park`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  await expect(page.locator(".no-hurry")).toContainText("1 parked");
  await search(page, "");
  await expect(options(page).first()).toContainText("Ask me now");
  await expect(options(page).filter({ hasText: "Ask me later" })).toHaveCount(0);
});

test("the command Next leads from the log to the card that needs the person", async ({ fleet, page }) => {
  const id = await fleet.start("Release the build");
  await fleet.block(id, "make release");
  await fleet.open("#/log");
  await search(page, "Next that needs you");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/#\/$/);
  await expect(fleet.card(id)).toBeFocused();
});

test("a word of a command finds the command, and not a session that has the letters inside a word", async ({
  fleet,
  page,
}) => {
  const id = await fleet.start("Write the changelog");
  await fleet.open();
  await search(page, "log");
  await expect(options(page).first()).toContainText("Go to the log");
  await expect(options(page).filter({ hasText: "Write the changelog" })).toBeVisible();
  await page.keyboard.press("Escape");
  await search(page, "changelog");
  await expect(options(page).first()).toContainText("Write the changelog");
  await page.keyboard.press("Enter");
  await expect(page.locator(`[data-drawer="${id}"]`)).toBeVisible();
});
