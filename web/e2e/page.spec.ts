import AxeBuilder from "@axe-core/playwright";
import type { Locator, Page } from "@playwright/test";
import { expect, test } from "./fleet";

/** g and a letter, which belong together only if they come quickly; a busy machine may need a second try. */
async function go(page: Page, key: string, arrives: Locator): Promise<void> {
  await expect(async () => {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    await expect(arrives.first()).toBeVisible({ timeout: 2_000 });
  }).toPass();
}

test.describe("drawer", () => {
  test.use({ sessions: 54 });

  test("a session has a link; its drawer tells why, when and what", async ({ fleet, page }) => {
    const session = (await fleet.sessions()).find((s) => s.agent_state.state === "needs_permission");
    await fleet.open(`#/session/${session?.id}`);
    const drawer = page.locator("[data-drawer]");
    await expect(drawer.getByRole("heading", { level: 2 })).toHaveText(session?.title ?? "");
    await expect(drawer).toContainText("Why is it here");
    await expect(drawer.locator(".ev").first()).toBeVisible();
    await expect(drawer.locator(".ev .r.bad").first()).toContainText("exit 1");
    await drawer.locator(".ev-line").first().click();
    await expect(drawer.locator(".raw").first()).toContainText("hook_event_name");
    await expect(drawer).toContainText("Cost");
    await page.keyboard.press("Escape");
    await expect(drawer).toHaveCount(0);
    await expect(page).toHaveURL(/#\/$/);
  });

  test("an unknown link says so", async ({ fleet, page }) => {
    await fleet.open("#/session/nobody");
    await expect(page.getByRole("dialog")).toContainText("No session by this link");
  });
});

test.describe("keyboard", () => {
  test.use({ sessions: 54 });

  test("j, k, h and l move; Tab has one stop per lane; ? and Ctrl-K open", async ({ fleet, page }) => {
    await fleet.open();
    await page.keyboard.press("j");
    const current = () => page.locator("[aria-current=true][data-card]").getAttribute("data-card");
    const first = await current();
    await page.keyboard.press("j");
    expect(await current()).not.toBe(first);
    await page.keyboard.press("k");
    expect(await current()).toBe(first);
    await page.keyboard.press("l");
    await expect(page.locator("[data-lane=replies] [data-card]:focus")).toHaveCount(1);
    await go(page, "r", page.locator("[data-lane=running] [data-card]:focus"));
    await expect(page.locator("[data-lane=running] [data-card][tabindex='0']")).toHaveCount(1);
    await page.keyboard.press("?");
    await expect(page.getByRole("dialog", { name: "Keyboard" })).toBeVisible();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("overview");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/#\/overview$/);
    await go(page, "b", page.locator("[data-card]"));
  });

  test("Enter opens a card without an ask, Escape brings the focus back to it", async ({ fleet, page }) => {
    await fleet.open();
    await go(page, "r", page.locator("[data-lane=running] [data-card]:focus"));
    const id = await page.locator("[data-card]:focus").getAttribute("data-card");
    await page.keyboard.press("Enter");
    await expect(page.locator(`[data-drawer="${id}"]`)).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(fleet.card(id ?? "")).toBeFocused();
  });
});

test.describe("overview", () => {
  test.use({ sessions: 30 });

  test("every session is a row; a stretch tells its story and opens", async ({ fleet, page }) => {
    await fleet.open("#/overview");
    await expect(page.locator(".row-name")).toHaveCount(30);
    const stretch = page.locator(".track .seg.blocked").first();
    await stretch.hover();
    await expect(page.getByRole("tooltip")).toContainText(/Waited|Waits/);
    await page.getByRole("button", { name: "By time waited" }).click();
    await expect(page.locator(".lane-row")).toHaveCount(0);
    await page.locator(".row-name").first().click();
    await expect(page.locator("[data-drawer]")).toBeVisible();
  });
});

test.describe("first run", () => {
  test("with no session the page says what it waits for and what to try, then the first card replaces it", async ({ fleet, page }) => {
    await fleet.open();
    await expect(page.getByRole("heading", { name: "Waiting for the first session" })).toBeVisible();
    await expect(page.locator(".cmdline").first()).toContainText("flightdeck demo");
    const id = await fleet.start();
    await expect(fleet.cardIn("Running", id)).toBeVisible();
  });

  test("drifted hooks are said with the fix, on the empty page and over the board", async ({ fleet, page }) => {
    test.skip(!fleet.server.mock, "the daemon's drift needs a settings file; its own tests make one");
    await fleet.order("drift");
    await fleet.open();
    await expect(page.getByRole("heading", { name: "The hooks are not in place" })).toBeVisible();
    await fleet.start();
    await expect(page.locator(".banner")).toContainText("flightdeck hooks repair");
    await expect(page.locator("[data-hooks=drifted]")).toContainText("Changed by another tool");
  });
});

test.describe("notifications", () => {
  test("entering a need is told once it settled; a fresh session is not, nor what is on screen", async ({ fleet, page, context }) => {
    await context.grantPermissions(["notifications"]);
    await page.addInitScript(() => {
      const notes: string[] = [];
      Object.assign(window, { notes });
      class Note {
        static permission = "granted";
        static requestPermission = async () => "granted";
        constructor(title: string) { notes.push(title); }
        close() { /* nothing to close */ }
      }
      Object.assign(window, { Notification: Note });
      // The person looks elsewhere.
      document.hasFocus = () => Boolean((window as unknown as { here?: boolean }).here);
      localStorage.setItem("flightdeck.alerts", JSON.stringify({ on: true, blocked: "note" }));
    });
    await fleet.open();
    const notes = () => page.evaluate(() => (window as unknown as { notes: string[] }).notes);
    const id = await fleet.start();
    await expect(fleet.card(id)).toBeVisible();
    void fleet.ask(id, "Bash", { command: "make" });
    await expect.poll(notes).toEqual(["Permission for Bash: make"]);
    await expect(page.locator("p[aria-live=polite]")).toContainText("needs you");
    const seen = await fleet.start("two");
    await page.evaluate(() => Object.assign(window, { here: true }));
    void fleet.ask(seen, "Bash", { command: "ls" });
    await expect(fleet.cardIn("Needs You", seen)).toBeVisible();
    await page.waitForTimeout(1500);
    expect(await notes()).toHaveLength(1);
  });
});

test.describe("phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, sessions: 54 });

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
});

test.describe("accessible", () => {
  test.use({ sessions: 27 });

  for (const scheme of ["dark", "light"] as const) {
    test(`axe finds no serious violation (${scheme})`, async ({ fleet, page }) => {
      test.setTimeout(300_000);
      await page.emulateMedia({ colorScheme: scheme });
      // The strips hold thousands of wordless marks that cost axe minutes; their rows are checked.
      const check = async (what: string) => {
        await page.waitForTimeout(400);
        const { violations } = await new AxeBuilder({ page }).exclude(".track").analyze();
        const serious = violations.filter((v) => v.impact === "serious" || v.impact === "critical");
        expect(serious.map((v) => `${what}: ${v.id} ${v.nodes[0]?.html} ${v.nodes[0]?.failureSummary}`)).toEqual([]);
      };
      await fleet.open();
      await check("board");
      const session = (await fleet.sessions()).find((s) => s.agent_state.state === "delegating");
      await page.goto(`${fleet.server.url}#/session/${session?.id}`);
      await expect(page.locator(".ev").first()).toBeVisible();
      await check("drawer");
      await page.goto(`${fleet.server.url}#/overview`);
      await check("overview");
      await page.keyboard.press("Control+k");
      await check("palette");
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Notifications" }).click();
      await check("notifications");
      await page.keyboard.press("Escape");
      if (fleet.server.mock) {
        await fleet.order("clear");
        await page.goto(`${fleet.server.url}#/`);
        await expect(page.locator(".checks")).toBeVisible();
        await check("empty");
      }
    });
  }
});
