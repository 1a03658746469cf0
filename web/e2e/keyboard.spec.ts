/** Moving around by keyboard, on the board and in the overview. */
import { expect, test, wantedIn } from "./fleet";
import { command, go } from "./keyboard";

test.describe("keyboard", () => {
  test.use({ fleetKind: "resting" });

  test("j, k, h and l move, Tab has one stop per lane, and ? and Ctrl-K open dialogs", async ({
    fleet,
    page,
  }) => {
    await fleet.open();
    await page.keyboard.press("j");
    const current = page.locator("[aria-current=true][data-card]");
    const first = (await current.getAttribute("data-card")) ?? "";
    await page.keyboard.press("j");
    await expect(current).not.toHaveAttribute("data-card", first);
    await page.keyboard.press("k");
    await expect(current).toHaveAttribute("data-card", first);
    await page.keyboard.press("l");
    await expect(page.locator("[data-lane=waiting] [data-card]:focus")).toHaveCount(1);
    await page.keyboard.press("h");
    await expect(page.locator("[data-lane=blocked] [data-card]:focus")).toHaveCount(1);
    await go(page, "r", page.locator("[data-lane=running] [data-card]:focus"));
    await expect(page.locator("[data-lane=running] [data-card][tabindex='0']")).toHaveCount(1);
    await page.keyboard.press("?");
    await expect(page.getByRole("dialog", { name: "Keyboard" })).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await command(page, "overview", "Go to the overview");
    await expect(page).toHaveURL(/#\/overview$/);
    await go(page, "b", page.locator("[data-card]"));
  });

  test("n goes through the cards in need in order, and the palette opens a session", async ({
    fleet,
    page,
  }) => {
    await page.setViewportSize({ width: 1300, height: 900 });
    await fleet.open();
    const want = wantedIn(await fleet.sessions(), "Needs You").map((line) => line.split(" ")[0]);
    for (const id of want.slice(0, 3)) {
      await page.keyboard.press("n");
      await expect(fleet.card(id ?? "")).toBeFocused();
    }
    await command(page, "parquet (1)", "parquet files in one go (1)");
    await expect(page.locator("[data-drawer]").getByRole("heading", { level: 2 })).toContainText(
      "parquet files in one go (1)",
    );
  });

  test("Enter opens a card, Escape brings the focus back to it", async ({ fleet, page }) => {
    await fleet.open();
    await go(page, "r", page.locator("[data-lane=running] [data-card]:focus"));
    const id = await page.locator("[data-card]:focus").getAttribute("data-card");
    await page.keyboard.press("Enter");
    await expect(page.locator(`[data-drawer="${id}"]`)).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(fleet.card(id ?? "")).toBeFocused();
  });
});

test.describe("keyboard in the overview", () => {
  test.use({ fleetKind: "resting" });

  test("j and k move along the rows, Enter opens one, and Escape returns to it", async ({ fleet, page }) => {
    await fleet.open("#/overview");
    const row = (i: number) => page.locator(".row-name").nth(i);
    await expect(row(3)).toBeVisible();
    await page.keyboard.press("j");
    await expect(row(0)).toBeFocused();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await expect(row(1)).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(page.locator("[data-drawer]")).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(row(1)).toBeFocused();
  });
});

test("after n in the drawer Escape selects the session that was open last, and Back leaves the drawer", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const ids = [await fleet.start("one"), await fleet.start("two")];
  for (const [i, id] of ids.entries())
    void fleet.ask(id, "Bash", { command: `git push --force origin ${i}` });
  for (const id of ids) await expect(fleet.cardIn("Needs You", id)).toBeVisible();
  await fleet.waitForKeys();
  const drawer = page.locator("[data-drawer]");
  for (const leave of [() => page.keyboard.press("Escape"), () => page.goBack()]) {
    await fleet.select(ids[0] ?? "");
    await page.keyboard.press("Enter");
    await expect(page.locator(`[data-drawer="${ids[0]}"]`)).toBeVisible();
    await page.keyboard.press("n");
    await expect(page.locator(`[data-drawer="${ids[1]}"]`)).toBeVisible();
    await leave();
    await expect(drawer).toHaveCount(0);
    await expect(fleet.card(ids[1] ?? "")).toBeFocused();
    await expect(fleet.card(ids[1] ?? "")).toHaveAttribute("aria-current", "true");
  }
});

test("a menu gives the focus back to its button after a choice, and closes when Tab leads out", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const id = await fleet.start();
  await expect(fleet.card(id)).toBeVisible();
  const button = page.getByRole("button", { name: /^Density/ });
  await button.press("Enter");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(page.locator(".menu")).toHaveCount(0);
  await expect(button).toBeFocused();
  await expect(button).toHaveAccessibleName("Density: Compact");
  await button.press("Enter");
  await expect(page.locator(".menu")).toBeVisible();
  for (let i = 0; i < 3; i++) await page.keyboard.press("Tab");
  await expect(page.locator(".menu")).toHaveCount(0);
});

test("a card that a key selects is not below the note with Undo", async ({ fleet, page }) => {
  await page.setViewportSize({ width: 1024, height: 600 });
  await fleet.open();
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    const id = await fleet.start(`Step ${i}`);
    ids.push(id);
    void fleet.ask(id, "Bash", { command: `git push --force origin ${i}` });
  }
  const plain = await fleet.start("plain");
  void fleet.ask(plain, "Bash", { command: "make" });
  for (const id of [...ids, plain]) await expect(fleet.card(id)).toBeAttached();
  await fleet.waitForKeys();
  await fleet.select(plain);
  await page.keyboard.press("y");
  const note = page.locator(".undo-note");
  await expect(note).toBeVisible();
  const [noteBox, lane] = [await note.boundingBox(), await page.locator(".needs").boundingBox()];
  expect(noteBox?.x ?? 0).toBeGreaterThanOrEqual((lane?.x ?? 0) + (lane?.width ?? 0));
});

test("a card that n selects is wholly visible, also if its key caps need one more line", async ({
  fleet,
  page,
}) => {
  await page.setViewportSize({ width: 1440, height: 700 });
  await fleet.open();
  for (let i = 0; i < 4; i++) {
    const id = await fleet.start(`Plan ${i}`);
    void fleet.ask(id, "ExitPlanMode", { plan: "1. Collect the failed runs\n2. Wait with a limit" });
    await expect(
      fleet
        .cardIn("Needs You", id)
        .getByRole("button", { name: /^Approve/ })
        .first(),
    ).toBeAttached();
  }
  await fleet.waitForKeys();
  const below = () =>
    page.evaluate(() => {
      const card = document.querySelector("[data-card][aria-current=true]");
      const lane = card?.closest("[data-lane]")?.getBoundingClientRect().bottom ?? Number.NaN;
      return Math.round((card?.getBoundingClientRect().bottom ?? Number.NaN) - lane);
    });
  for (let i = 0; i < 4; i++) {
    await page.keyboard.press("n");
    await expect.poll(below).toBeLessThanOrEqual(0);
  }
});
