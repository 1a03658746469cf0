/** The digest: the first thing that a person sees after more than 30 minutes away. */
import type { Digest } from "../src/generated/Digest";
import { expect, type Fleet, test } from "./fleet";
import { command, go } from "./keyboard";
import { blocked, finished, MINUTE_MS, spoolHooks } from "./pastHooks";

const ID = "00000000-0000-4000-8000-00000000000a";
const OTHER = "00000000-0000-4000-8000-00000000000b";

/** While the person was away: one assignment was completed, one waits. */
async function playAbsence(fleet: Fleet): Promise<void> {
  spoolHooks(fleet.server, ID, "billing", [
    [50, "SessionStart", { source: "startup", model: "claude-opus-5-5" }],
    ...finished(25, 20, "Store totals as cents", "Totals are integers now. Done."),
  ]);
  spoolHooks(fleet.server, OTHER, "infra", [
    [50, "SessionStart", { source: "startup", model: "claude-opus-5-5" }],
    [24, "UserPromptSubmit", { prompt: "Peer the network" }],
    ...blocked(19, "tofu plan"),
  ]);
  await expect
    .poll(async () => (await fleet.sessions()).map((s) => s.agent_state.state))
    .toContain("needs_permission");
  await expect
    .poll(async () => (await fleet.sessions()).map((s) => s.assignment?.state))
    .toContain("complete");
}

/** The page was used last before these minutes. */
const lastUsed = (fleet: Fleet, minutesAgo: number) =>
  fleet.page.addInitScript(
    (at) => {
      if (!sessionStorage.getItem("seeded")) localStorage.setItem("flightdeck.last-seen", String(at));
      sessionStorage.setItem("seeded", "1");
    },
    Date.now() - minutesAgo * MINUTE_MS,
  );

test("a person who opens the page again sees what was completed and what waits", async ({ fleet, page }) => {
  await playAbsence(fleet);
  await lastUsed(fleet, 45);
  await fleet.open();
  const digest = page.getByRole("dialog", { name: "Digest" });
  await expect(digest).toContainText("You were away for 45 min");
  await expect(digest.getByRole("heading", { level: 2 })).toHaveText("1 completed, 1 waits for you");
  await expect(digest.getByRole("region", { name: "Completed" })).toContainText("Store totals as cents");
  const infra = digest.getByRole("row", { name: /infra/ });
  await expect(infra.getByRole("cell").last()).toHaveText("19 min");
  await page.keyboard.press("Escape");
  await expect(digest).toHaveCount(0);
  await page.reload();
  await expect(page.locator("[data-connection=live]")).toBeAttached();
  await expect(page.locator("[data-card]").first()).toBeVisible();
  await expect(digest).toHaveCount(0);
});

test("what ended or died is listed with what was completed, and counted in what the log has more", async ({
  fleet,
}) => {
  const ended = (i: number) => `00000000-0000-4000-8000-0000000000e${i}`;
  for (let i = 0; i < 8; i++)
    spoolHooks(fleet.server, ended(i), "billing", [
      [50, "SessionStart", { source: "startup", model: "claude-opus-5-5" }],
      [40 - i, "UserPromptSubmit", { prompt: `Try ${i}` }],
      [30 - i, "SessionEnd", { reason: "prompt_input_exit" }],
    ]);
  spoolHooks(fleet.server, ID, "billing", [
    [50, "SessionStart", { source: "startup", model: "claude-opus-5-5" }],
    ...finished(25, 20, "Store totals as cents", "Totals are integers now. Done."),
  ]);
  const total = async () =>
    (
      (await (
        await fetch(
          `${fleet.server.url}api/digest?since=${new Date(Date.now() - 45 * MINUTE_MS).toISOString()}`,
        )
      ).json()) as Digest
    ).total;
  await expect.poll(async () => (await total()).ended, { timeout: 30_000 }).toBe(8);
  await expect.poll(async () => (await total()).completed).toBe(1);
  await lastUsed(fleet, 45);
  await fleet.open();
  const over = fleet.page.getByRole("dialog", { name: "Digest" }).getByRole("region", { name: "Completed" });
  await expect(over.getByRole("heading")).toHaveText("Completed, ended or died, the newest first");
  await expect(over.getByRole("listitem")).toHaveCount(6);
  await expect(over).toContainText("3 more in the log");
});

test("a row of the digest opens the session, and the digest is gone", async ({ fleet, page }) => {
  await playAbsence(fleet);
  await lastUsed(fleet, 45);
  await fleet.open();
  const digest = page.getByRole("dialog", { name: "Digest" });
  await digest.getByRole("region", { name: "Waits for you" }).getByRole("link").click();
  await expect(page.locator("[data-drawer]")).toHaveAttribute("data-drawer", OTHER);
  await expect(digest).toHaveCount(0);
});

test("30 minutes without input make an absence, 29 do not", async ({ fleet, page }) => {
  await playAbsence(fleet);
  let asked = 0;
  page.on("request", (request) => {
    if (request.url().includes("/api/digest")) asked++;
  });
  await page.clock.install();
  await fleet.open();
  const opened = await page.evaluate(() => Date.now());
  const seen = () => page.evaluate(() => Number(localStorage.getItem("flightdeck.last-seen")));
  await page.clock.setSystemTime(opened + 29 * MINUTE_MS);
  await page.mouse.move(300, 300);
  await expect.poll(seen).toBeGreaterThanOrEqual(opened + 29 * MINUTE_MS);
  expect(asked).toBe(0);
  await page.clock.setSystemTime(opened + 60 * MINUTE_MS);
  await page.mouse.move(400, 400);
  const digest = page.getByRole("dialog", { name: "Digest" });
  await expect(digest).toContainText("You were away for 31 min");
  await expect(digest.getByRole("heading", { level: 2 })).toContainText("1 waits for you");
});

test("a person who used another tab of the board was not away", async ({ fleet, page, context }) => {
  await playAbsence(fleet);
  let asked = 0;
  page.on("request", (request) => {
    if (request.url().includes("/api/digest")) asked++;
  });
  await page.clock.install();
  await fleet.open();
  const opened = await page.evaluate(() => Date.now());
  const used = page.evaluate(() => new Promise((done) => addEventListener("storage", () => done(true))));
  const other = await context.newPage();
  await other.goto(`${fleet.server.url}icon.svg`);
  await other.evaluate(
    (at) => localStorage.setItem("flightdeck.last-seen", String(at)),
    opened + 55 * MINUTE_MS,
  );
  await used;
  await page.bringToFront();
  await page.clock.setSystemTime(opened + 60 * MINUTE_MS);
  await page.mouse.move(300, 300);
  const seen = () => page.evaluate(() => Number(localStorage.getItem("flightdeck.last-seen")));
  await expect.poll(seen).toBeGreaterThanOrEqual(opened + 60 * MINUTE_MS);
  expect(asked).toBe(0);
});

test("a key that moves dismisses the digest, an answer key does nothing", async ({ fleet, page }) => {
  await playAbsence(fleet);
  await fleet.open();
  const digest = page.getByRole("dialog", { name: "Digest" });
  await go(page, "a", digest);
  await expect(digest.getByRole("button", { name: "Today" })).toHaveAttribute("aria-pressed", "true");
  await page.keyboard.press("y");
  await expect(digest).toBeVisible();
  await page.keyboard.press("n");
  await expect(digest).toHaveCount(0);
  await expect(fleet.card(OTHER)).toBeFocused();
  await command(page, "while you were away", "Digest");
  await digest.getByRole("button", { name: "Open the log" }).click();
  await expect(page).toHaveURL(/#\/log$/);
  await expect(digest).toHaveCount(0);
});

test("if nothing was completed and nothing waits, no digest is in the way", async ({ fleet, page }) => {
  await fleet.start("Look around");
  await lastUsed(fleet, 45);
  const reply = page.waitForResponse(/\/api\/digest/);
  await fleet.open();
  await (await reply).finished();
  await expect(page.locator("[data-card]").first()).toBeVisible();
  await expect(page.getByRole("dialog")).toHaveCount(0);
});
