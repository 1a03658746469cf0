/** Alerts: browser notifications and screen reader announcements. */
import type { Page } from "@playwright/test";
import { expect, TOAST_MS, test } from "./fleet";

type Recorded = { notes: string[]; here: boolean };

/** Turns notifications on and records them. The page counts as not focused until `here` is set. */
async function listen(page: Page, { forbidden = false } = {}): Promise<void> {
  await page.addInitScript((forbidden) => {
    const recorded: Recorded = { notes: [], here: false };
    const tags = new Set<string>();
    class Note {
      static permission = "granted";
      static requestPermission = async () => "granted";
      constructor(title: string, { tag, renotify }: { tag: string; renotify?: boolean }) {
        if (forbidden) throw new TypeError("Illegal constructor");
        // A notification with the tag of another replaces it silently, unless `renotify` is set.
        if (!tags.has(tag) || renotify) recorded.notes.push(title);
        tags.add(tag);
      }
      close() {
        /* nothing to close */
      }
    }
    Object.assign(window, { recorded, Notification: Note });
    document.hasFocus = () => recorded.here;
    localStorage.setItem(
      "flightdeck.alerts",
      JSON.stringify({ on: true, blocked: "note", failed: "note", waiting: "note", quiet: false }),
    );
  }, forbidden);
}

const notes = (page: Page) =>
  page.evaluate(() => (window as unknown as { recorded: Recorded }).recorded.notes);
const come = (page: Page) =>
  page.evaluate(() => {
    (window as unknown as { recorded: Recorded }).recorded.here = true;
  });
const heard = (page: Page) => page.locator("p[aria-live=polite]");

test("a new need alerts after a second, but not for a new session, a need that is over at once, or a card on screen", async ({
  fleet,
  page,
}) => {
  await page.clock.install();
  await listen(page);
  await fleet.open();
  // A new session is in Needs You, but nothing happened in it.
  const fresh = "00000000-0000-4000-8000-00000000f4e5";
  await fleet.hook(fresh, "SessionStart", { source: "startup" });
  await expect(fleet.cardIn("Needs You", fresh)).toBeVisible();
  // Stop is followed at once by a wake-up, before the alert is due by the page's clock.
  const brief = await fleet.start("brief");
  await expect(fleet.cardIn("Running", brief)).toBeVisible();
  const state = (id: string) => () => fleet.card(id).getAttribute("data-state");
  await fleet.freezeClock();
  await fleet.hook(brief, "Stop");
  await fleet.pollFrames(state(brief)).toBe("idle");
  await fleet.hook(brief, "UserPromptSubmit", { prompt: "go on" });
  await fleet.pollFrames(state(brief)).toBe("thinking");
  await page.clock.resume();
  const id = await fleet.start();
  await expect(fleet.cardIn("Running", id)).toBeVisible();
  await fleet.block(id, "make");
  await expect.poll(() => notes(page)).toEqual(["Permission for Bash: make"]);
  await expect(heard(page)).toContainText("needs you");
  // On screen: announced for screen readers, but without a notification.
  const seen = await fleet.start("two");
  await expect(fleet.cardIn("Running", seen)).toBeVisible();
  await come(page);
  await fleet.freezeClock();
  await fleet.block(seen, "ls");
  await fleet.pollFrames(() => fleet.cardIn("Needs You", seen).count()).toBe(1);
  // Otherwise a moving card may still cover it.
  await fleet.waitForAnimations();
  await page.clock.resume();
  await expect(heard(page)).toContainText("Permission for Bash: ls");
  expect(await notes(page)).toHaveLength(1);
});

test("a card behind a drawer or a dialog does not count as on screen", async ({ fleet, page }) => {
  await listen(page);
  const [one, two, other] = [await fleet.start("one"), await fleet.start("two"), await fleet.start("other")];
  await fleet.open(`#/session/${other}`);
  await come(page);
  await expect(page.locator("[data-drawer]")).toBeVisible();
  await fleet.block(one, "make");
  await expect.poll(() => notes(page)).toEqual(["Permission for Bash: make"]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keyboard" })).toBeVisible();
  await fleet.block(two, "ls");
  await expect.poll(() => notes(page)).toEqual(["Permission for Bash: make", "Permission for Bash: ls"]);
});

test("sessions that blocked during a gap are announced together, and the overview shows them", async ({
  fleet,
  page,
  daemonProxy,
}) => {
  await listen(page);
  const [one, two] = [await fleet.start("one"), await fleet.start("two")];
  await fleet.open("#/overview", daemonProxy.url);
  await expect(page.locator(".row-name.running")).toHaveCount(2);
  daemonProxy.cut();
  await expect(page.locator("[data-connection=lost]")).toBeAttached();
  await fleet.block(one, "make");
  await fleet.block(two, "ls");
  daemonProxy.fakeLastEventId = "another-boot-7";
  daemonProxy.restore();
  await expect
    .poll(async () => (await notes(page)).toSorted(), { timeout: 20_000 })
    .toEqual(["Permission for Bash: ls", "Permission for Bash: make"]);
  for (const sentence of [
    "api needs you: Permission for Bash: make.",
    "api needs you: Permission for Bash: ls.",
  ])
    await expect(heard(page)).toContainText(sentence);
  await expect(page.locator(".row-name.blocked")).toHaveCount(2);
});

test("a muted session or project shows it and sends no notification until it is unmuted", async ({
  fleet,
  page,
}) => {
  await listen(page);
  await fleet.disableTimer(TOAST_MS);
  await fleet.open();
  const expectToast = (text: string) =>
    expect(page.getByRole("status").filter({ hasText: text })).toBeVisible();
  const quiet = await fleet.start("quiet");
  const hushed = await fleet.start("hushed", { cwd: "/home/dev/infra" });
  await fleet.card(quiet).focus();
  await page.keyboard.press("m");
  await expectToast("This session is muted");
  await expect(fleet.card(quiet).getByTitle("Muted: no notifications")).toBeVisible();
  await fleet.open(`#/session/${hushed}`);
  await page.getByRole("button", { name: "Mute project" }).click();
  await expectToast("infra is muted");
  await page.keyboard.press("Escape");
  await expect(fleet.card(hushed).getByTitle("Its project is muted: no notifications")).toBeVisible();
  await fleet.block(quiet, "make one");
  await expect(heard(page)).toContainText("make one");
  await fleet.block(hushed, "make two");
  await expect(heard(page)).toContainText("make two");

  await page.getByRole("button", { name: "Notifications" }).click();
  await page.locator(".muted-list").getByRole("button", { name: "infra" }).click();
  await page.keyboard.press("Escape");
  await expect(fleet.card(hushed).getByTitle(/muted/)).toHaveCount(0);
  const loud = await fleet.start("loud", { cwd: "/home/dev/infra" });
  await expect(fleet.cardIn("Running", loud)).toBeVisible();
  await fleet.block(loud, "make three");
  await expect.poll(() => notes(page)).toEqual(["Permission for Bash: make three"]);
});

test("the same need alerts again the next time", async ({ fleet, page }) => {
  await listen(page);
  await fleet.open();
  const id = await fleet.start();
  await expect(fleet.cardIn("Running", id)).toBeVisible();
  await fleet.block(id, "make");
  await expect.poll(() => notes(page)).toHaveLength(1);
  await expect(heard(page)).toContainText("make");
  const words = await heard(page).textContent();
  await heard(page)
    .locator("span")
    .evaluate((said) => {
      said.dataset.old = "yes";
    });
  await fleet.hook(id, "PostToolUse", {
    tool_name: "Bash",
    tool_input: { command: "make" },
    tool_use_id: `toolu_${id}_make`,
    tool_response: {},
  });
  await expect(fleet.cardIn("Running", id)).toBeVisible();
  await fleet.block(id, "make");
  await expect.poll(() => notes(page)).toHaveLength(2);
  // A screen reader reads new text nodes, not an unchanged text that was set again.
  await expect(heard(page).locator("[data-old]")).toHaveCount(0);
  await expect(heard(page)).toHaveText(words ?? "");
});

test("a browser that forbids notifications causes no error", async ({ fleet, page }) => {
  await listen(page, { forbidden: true });
  await fleet.open();
  const id = await fleet.start();
  await expect(fleet.cardIn("Running", id)).toBeVisible();
  await fleet.block(id, "make");
  await expect(heard(page)).toContainText("Permission for Bash: make");
  await fleet.hook(id, "SessionEnd", { reason: "other" });
  await expect(fleet.cardIn("Done", id)).toBeVisible();
});
