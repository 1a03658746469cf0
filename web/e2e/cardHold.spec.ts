/** A card that the person writes in or points at stays in place while the fleet changes. */
import type { Locator } from "@playwright/test";
import { allow, expect, type Fleet, test } from "./fleet";

test.use({ viewport: { width: 1300, height: 900 } });

const top = async (card: Locator) => (await card.boundingBox())?.y ?? Number.NaN;

/** Two permissions, the newer one above the other. */
async function two(fleet: Fleet) {
  await fleet.open();
  const below = await fleet.start("below");
  const verdict = fleet.ask(below, "Bash", { command: "make below" });
  await expect(allow(fleet.cardIn("Needs You", below))).toBeVisible();
  const above = await fleet.start("above");
  void fleet.ask(above, "Bash", { command: "make above" });
  await expect(allow(fleet.cardIn("Needs You", above))).toBeVisible();
  await fleet.waitForAnimations();
  expect(await top(fleet.card(above))).toBeLessThan(await top(fleet.card(below)));
  return { above, below, verdict };
}

/** The status line reports a warm prompt cache, so the card belongs to another tier of its lane. */
const warm = (fleet: Fleet, session_id: string) =>
  fleet.server.pipe(
    JSON.stringify({
      session_id,
      prompt_cache: {
        warm: true,
        ttl: "1h",
        expires_at: Math.floor(Date.now() / 1000) + 3_000,
        hit_ratio: 0.9,
      },
    }),
    "statusline",
  );

test("typed text and focus stay while the pointer is on another card and the cache tier changes, and the text moves with the card later", async ({
  fleet,
  page,
}) => {
  const { above, below, verdict } = await two(fleet);
  const card = fleet.card(below);
  await card.getByRole("button", { name: "More ways to answer" }).click();
  await page.getByRole("button", { name: "Deny with message…" }).click();
  const box = card.getByLabel("Why not, and what instead");
  await expect(box).toBeFocused();
  await page.keyboard.type("use just");
  await fleet.card(above).locator(".card-head").hover();
  warm(fleet, below);
  await expect
    .poll(async () => (await fleet.sessions()).find((s) => s.id === below)?.cache.status)
    .toBe("warm");
  // This session was reported after the cache tier, so the tier is drawn when it is.
  const newest = await fleet.start("newest");
  await expect(fleet.cardIn("Running", newest)).toBeVisible();
  await page.keyboard.type(" instead");
  await expect(box).toBeFocused();
  await expect(box).toHaveValue("use just instead");
  await fleet.waitForAnimations();
  expect(await top(card)).toBeGreaterThan(await top(fleet.card(above)));

  // After the focus left, the card moves to its tier and takes the text along.
  await page.locator("#search").focus();
  await page.mouse.move(5, 5);
  await expect.poll(async () => (await top(card)) < (await top(fleet.card(above)))).toBe(true);
  await expect(box).toHaveValue("use just instead");
  await box.press("Enter");
  expect((await verdict).hookSpecificOutput.decision).toMatchObject({
    behavior: "deny",
    message: "use just instead",
  });
});

test("the button under the pointer stays there while a card above it grows and shrinks", async ({
  fleet,
  page,
}) => {
  const { above, below, verdict } = await two(fleet);
  const card = fleet.card(below);
  await allow(card).hover();
  const place = await top(card);
  const moved = async () => Math.abs((await top(card)) - place);
  const height = async () => (await fleet.card(above).boundingBox())?.height ?? 0;
  const before = await height();
  await fleet.hook(above, "SubagentStart", { agent_id: "a1", agent_type: "Explore" });
  await expect(fleet.card(above).locator(".pill")).toBeVisible();
  await expect.poll(height).toBeGreaterThan(before + 5);
  await expect.poll(moved).toBeLessThan(2);
  await fleet.hook(above, "SubagentStop", { agent_id: "a1", agent_type: "Explore" });
  await expect(fleet.card(above).locator(".pill")).toHaveCount(0);
  await expect.poll(height).toBeLessThan(before + 2);
  await expect.poll(moved).toBeLessThan(2);
  await page.mouse.down();
  await page.mouse.up();
  expect((await verdict).hookSpecificOutput.decision.behavior).toBe("allow");
});

test("a pointer on an ask holds its card without a time limit", async ({ fleet, page }) => {
  await page.clock.install();
  const { above, below, verdict } = await two(fleet);
  const card = fleet.card(below);
  await allow(card).hover();
  const place = await top(card);
  await page.clock.fastForward(20_000);
  await fleet.hook(above, "SessionEnd", { reason: "other" });
  await expect(fleet.cardIn("Done", above)).toBeVisible();
  await fleet.waitForAnimations();
  expect(Math.abs((await top(card)) - place)).toBeLessThan(2);
  await page.mouse.down();
  await page.mouse.up();
  expect((await verdict).hookSpecificOutput.decision.behavior).toBe("allow");
});

test("a card that just moved under a resting pointer ignores clicks for a short time", async ({
  fleet,
  page,
}) => {
  await page.clock.install();
  await fleet.open();
  const first = await fleet.start("first");
  void fleet.ask(first, "Bash", { command: "make it" });
  await expect(allow(fleet.cardIn("Needs You", first))).toBeVisible();
  await fleet.waitForAnimations();
  const box = await allow(fleet.card(first)).boundingBox();
  await fleet.hook(first, "SessionEnd", { reason: "other" });
  await expect(fleet.cardIn("Done", first)).toBeVisible();
  await page.mouse.move((box?.x ?? 0) + 8, (box?.y ?? 0) + 8);

  const second = await fleet.start("second");
  await expect(fleet.cardIn("Running", second)).toBeVisible();
  await fleet.freezeClock();
  const verdict = fleet.ask(second, "Bash", { command: "make it" });
  const card = fleet.cardIn("Needs You", second);
  await fleet.pollFrames(() => allow(card).count()).toBe(1);
  // The animation uses the browser's own clock.
  await fleet.waitForAnimations();
  await page.mouse.down();
  await page.mouse.up();
  // The click reached the card and not the button in it.
  await expect(card).toBeFocused();
  expect((await fleet.sessions()).find((s) => s.id === second)?.asks[0]?.resolution).toBeNull();
  await page.clock.runFor(500);
  await page.mouse.down();
  await page.mouse.up();
  expect((await verdict).hookSpecificOutput.decision.behavior).toBe("allow");
});

test("a press beside the card that a key selected is a click, although the lane closes up then", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const ids: string[] = [];
  for (const name of ["one", "two", "three"]) {
    const id = await fleet.start(name);
    ids.push(id);
    await fleet.hook(id, "Stop", { last_assistant_message: "Done." });
    await expect(fleet.cardIn("Needs You", id)).toBeVisible();
  }
  await fleet.select(ids[0] ?? "");
  await page.keyboard.press("p");
  await page.keyboard.press("h");
  const parked = page.getByRole("button", { name: /^Parked 1/ });
  await expect(parked).toBeVisible();
  await fleet.waitForAnimations();
  await parked.click();
  await expect(parked).toHaveAttribute("aria-expanded", "true");
});
