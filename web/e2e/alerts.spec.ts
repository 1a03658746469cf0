//! Who is told what, and when: notes of the browser and what a screen reader hears.
import type { Page } from "@playwright/test";
import { expect, test, TOAST_MS } from "./fleet";

type Told = { notes: string[]; here: boolean };

/** Notes are on and counted as a browser would show them; the person looks elsewhere until `here`. */
async function listen(page: Page, { forbidden = false } = {}): Promise<void> {
  await page.addInitScript((forbidden) => {
    const told: Told = { notes: [], here: false };
    const tags = new Set<string>();
    class Note {
      static permission = "granted";
      static requestPermission = async () => "granted";
      constructor(title: string, { tag, renotify }: { tag: string; renotify?: boolean }) {
        if (forbidden) throw new TypeError("Illegal constructor");
        // One with the tag of another takes its place in silence, unless it asks not to.
        if (!tags.has(tag) || renotify) told.notes.push(title);
        tags.add(tag);
      }
      close() { /* nothing to close */ }
    }
    Object.assign(window, { told, Notification: Note });
    document.hasFocus = () => told.here;
    localStorage.setItem("flightdeck.alerts", JSON.stringify({ on: true, blocked: "note", failed: "note", waiting: "note", quiet: false }));
  }, forbidden);
}

const notes = (page: Page) => page.evaluate(() => (window as unknown as { told: Told }).told.notes);
const come = (page: Page) => page.evaluate(() => { (window as unknown as { told: Told }).told.here = true; });
const heard = (page: Page) => page.locator("p[aria-live=polite]");

test("entering a need is told once it settled; a fresh session is not, nor what is over at once, nor what is on screen", async ({ fleet, page }) => {
  await page.clock.install();
  await listen(page);
  await fleet.open();
  // Fresh: it came to Needs You, but nothing happened to it.
  const fresh = "00000000-0000-4000-8000-00000000f4e5";
  await fleet.hook(fresh, "SessionStart", { source: "startup" });
  await expect(fleet.cardIn("Needs You", fresh)).toBeVisible();
  // Over before it settled: a wake-up follows Stop at once, by the page's own time.
  const brief = await fleet.start("brief");
  await expect(fleet.cardIn("Running", brief)).toBeVisible();
  const state = (id: string) => () => fleet.card(id).getAttribute("data-state");
  await fleet.freeze();
  await fleet.hook(brief, "Stop");
  await fleet.drawn(state(brief)).toBe("idle");
  await fleet.hook(brief, "UserPromptSubmit", { prompt: "go on" });
  await fleet.drawn(state(brief)).toBe("thinking");
  await page.clock.resume();
  const id = await fleet.start();
  await expect(fleet.cardIn("Running", id)).toBeVisible();
  await fleet.block(id, "make");
  await expect.poll(() => notes(page)).toEqual(["Permission for Bash: make"]);
  await expect(heard(page)).toContainText("needs you");
  // In front of the person: announced for a screen reader, but no note.
  const seen = await fleet.start("two");
  await expect(fleet.cardIn("Running", seen)).toBeVisible();
  await come(page);
  await fleet.freeze();
  await fleet.block(seen, "ls");
  await fleet.drawn(() => fleet.cardIn("Needs You", seen).count()).toBe(1);
  // Else another card may lie over it, on its way.
  await fleet.still();
  await page.clock.resume();
  await expect(heard(page)).toContainText("Permission for Bash: ls");
  expect(await notes(page)).toHaveLength(1);
});

test("a card behind another session's drawer, or behind a dialog, is not in front of the person", async ({ fleet, page }) => {
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

test("what blocked behind a gap is told, all of it at once, and the overview shows it", async ({ fleet, page, line }) => {
  await listen(page);
  const [one, two] = [await fleet.start("one"), await fleet.start("two")];
  await fleet.open("#/overview", line.url);
  await expect(page.locator(".row-name.running")).toHaveCount(2);
  line.cut();
  await expect(page.locator("[data-connection=lost]")).toBeAttached();
  await fleet.block(one, "make");
  await fleet.block(two, "ls");
  line.pretend = "another-boot-7";
  line.mend();
  await expect.poll(async () => (await notes(page)).toSorted(), { timeout: 20_000 }).toEqual(["Permission for Bash: ls", "Permission for Bash: make"]);
  for (const sentence of ["api needs you: Permission for Bash: make.", "api needs you: Permission for Bash: ls."]) await expect(heard(page)).toContainText(sentence);
  await expect(page.locator(".row-name.blocked")).toHaveCount(2);
});

test("a session muted with m and a project muted in the drawer say so and send no note, until they are unmuted", async ({ fleet, page }) => {
  await listen(page);
  await fleet.lasts(TOAST_MS);
  await fleet.open();
  const said = (text: string) => expect(page.getByRole("status").filter({ hasText: text })).toBeVisible();
  const quiet = await fleet.start("quiet");
  const hushed = await fleet.start("hushed", { cwd: "/home/dev/infra" });
  await fleet.card(quiet).focus();
  await page.keyboard.press("m");
  await said("This session is muted");
  await expect(fleet.card(quiet).getByTitle("Muted: no notifications")).toBeVisible();
  await fleet.open(`#/session/${hushed}`);
  await page.getByRole("button", { name: "Mute project" }).click();
  await said("infra is muted");
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

test("the same need again is told again", async ({ fleet, page }) => {
  await listen(page);
  await fleet.open();
  const id = await fleet.start();
  await expect(fleet.cardIn("Running", id)).toBeVisible();
  await fleet.block(id, "make");
  await expect.poll(() => notes(page)).toHaveLength(1);
  await expect(heard(page)).toContainText("make");
  const words = await heard(page).textContent();
  await heard(page).locator("span").evaluate((said) => { said.dataset.old = "yes"; });
  await fleet.hook(id, "PostToolUse", { tool_name: "Bash", tool_input: { command: "make" }, tool_use_id: `toolu_${id}_make`, tool_response: {} });
  await expect(fleet.cardIn("Running", id)).toBeVisible();
  await fleet.block(id, "make");
  await expect.poll(() => notes(page)).toHaveLength(2);
  // A screen reader speaks what is new in the page, not what was written over with the same words.
  await expect(heard(page).locator("[data-old]")).toHaveCount(0);
  await expect(heard(page)).toHaveText(words ?? "");
});

test("a browser that has notes but forbids them to pages breaks nothing", async ({ fleet, page }) => {
  await listen(page, { forbidden: true });
  await fleet.open();
  const id = await fleet.start();
  await expect(fleet.cardIn("Running", id)).toBeVisible();
  await fleet.block(id, "make");
  await expect(heard(page)).toContainText("Permission for Bash: make");
  await fleet.hook(id, "SessionEnd", { reason: "other" });
  await expect(fleet.cardIn("Done", id)).toBeVisible();
});
