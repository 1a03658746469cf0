/** Accessibility: axe on every view, and messages that can be read. */
import AxeBuilder from "@axe-core/playwright";
import { expect, type Fleet, logged, TOAST_MS, test } from "./fleet";
import { go } from "./keyboard";
import { startRestingFleet } from "./restingFleet";
import { reportLimits, waitForUsage, writeSpend } from "./usageFixtures";

test.describe("accessibility", () => {
  /** Colour contrast is checked too, so fading must be over. */
  async function check(fleet: Fleet, what: string): Promise<void> {
    await fleet.waitForAnimations();
    const { violations } = await new AxeBuilder({ page: fleet.page }).analyze();
    const serious = violations.filter((v) => v.impact === "serious" || v.impact === "critical");
    expect(serious.map((v) => `${what}: ${v.id} ${v.nodes[0]?.html} ${v.nodes[0]?.failureSummary}`)).toEqual(
      [],
    );
  }

  for (const scheme of ["dark", "light"] as const) {
    test.describe(scheme, () => {
      test.use({ colorScheme: scheme });

      test(`axe finds no serious violation: board, drawer, overview, log, digest, palette, notifications, usage (${scheme})`, async ({
        fleet,
        page,
      }) => {
        test.setTimeout(120_000);
        // One session in each state: axe takes seconds per card on a busy machine.
        await startRestingFleet(fleet.server.url, 12);
        await fleet.open();
        await check(fleet, "board");
        // The name in the header is hidden here.
        await page.setViewportSize({ width: 1024, height: 768 });
        await check(fleet, "board at 1024 px");
        await page.setViewportSize({ width: 1600, height: 1000 });
        await page.goto(`${fleet.server.url}?state=thinking&state=idle`);
        await expect(page.locator(".outside-filter")).toBeVisible();
        await check(fleet, "filtered board");
        const session = (await fleet.sessions()).find((s) => s.agent_state.state === "delegating");
        await page.goto(`${fleet.server.url}#/session/${session?.id}`);
        await expect(page.locator(".ev").first()).toBeVisible();
        await check(fleet, "drawer");
        await page.goto(`${fleet.server.url}#/overview`);
        await expect(page.locator(".track .seg").first()).toBeVisible();
        await check(fleet, "overview");
        await page.goto(`${fleet.server.url}#/log`);
        await expect(page.locator(".log-row").first()).toBeVisible();
        await expect(page.getByRole("region", { name: "How long agents waited for you" })).toBeVisible();
        await check(fleet, "log");
        await go(page, "a", page.getByRole("region", { name: "Waits for you" }));
        await check(fleet, "digest");
        await page.keyboard.press("Escape");
        await page.keyboard.press("Control+k");
        await expect(page.getByRole("dialog", { name: "Commands" })).toBeVisible();
        await check(fleet, "palette");
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "Notifications" }).click();
        await expect(page.getByRole("dialog", { name: "Notifications" })).toBeVisible();
        await check(fleet, "notifications");
        await page.keyboard.press("Escape");
        writeSpend(fleet.server, "api", "s1", [
          [0, 2],
          [30, 3],
        ]);
        reportLimits(fleet.server, session?.id ?? "", 72, 88);
        await waitForUsage(fleet.server, 5);
        await go(page, "u", page.getByRole("region", { name: "By project" }));
        await check(fleet, "usage");
      });

      test(`an error message is readable, also over an open session (${scheme})`, async ({
        fleet,
        page,
        errors,
      }) => {
        const id = await fleet.start();
        await fleet.disableTimer(TOAST_MS);
        await fleet.open(`#/session/${id}`);
        const [drawer, toast] = [page.locator(`[data-drawer="${id}"]`), page.locator(".toast")];
        // Offered after the page has read the daemon's capabilities, which `t` needs too.
        await expect(drawer.getByRole("button", { name: "Copy resume command" })).toBeVisible();
        await page.keyboard.press("Escape");
        await expect(drawer).toHaveCount(0);
        await page.keyboard.press("t");
        await expect(toast).toContainText("no tmux pane");
        await fleet.waitForAnimations();
        const { violations, passes } = await new AxeBuilder({ page })
          .include(".toast")
          .withRules("color-contrast")
          .analyze();
        expect(violations.map((v) => v.nodes[0]?.failureSummary)).toEqual([]);
        expect(passes.map((p) => p.id)).toEqual(["color-contrast"]);
        // A toast that is still open would lie below the dialog that opens now.
        await toast.evaluate((shown) => (shown as HTMLElement).hidePopover());
        await page.keyboard.press("o");
        await expect(drawer).toBeVisible();
        await page.keyboard.press("t");
        await logged(errors, "409", "409");
        // The toast is in the top layer like the dialog, and was shown later; a z-index would not be enough.
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
