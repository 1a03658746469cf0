/** The command palette: what needs the person comes first, and a command can be answered without opening its session. */
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
