/** The line at the bottom lists the keys that act now, wherever the focus is. */
import type { Page } from "@playwright/test";
import { allow, expect, questions, test } from "./fleet";

/** The listed keys as "key label", as far as they are visible. */
const listed = (page: Page) =>
  page.locator(".key-list li").evaluateAll((items) =>
    items
      .filter((item) => {
        const [own, list] = [item, item.parentElement as Element].map((e) => e.getBoundingClientRect());
        return own && list && own.bottom <= list.bottom + 1 && own.right <= list.right + 1;
      })
      .map((item) => {
        const caps = Array.from(item.querySelectorAll("kbd"), (cap) => cap.textContent);
        return `${caps.join(" ")} ${item.lastChild?.textContent}`;
      }),
  );

test("in a text field only the keys of the field are listed", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start();
  void fleet.ask(id, "Bash", { command: "make" });
  await expect(allow(fleet.cardIn("Needs You", id))).toBeVisible();
  await fleet.waitForKeys();
  await fleet.select(id);
  await page.keyboard.press("n");
  await expect.poll(() => listed(page)).toContain("y allow");
  // A card has nothing to fold.
  expect((await listed(page)).join()).not.toContain("Esc");
  await page.keyboard.press("/");
  await expect.poll(() => listed(page)).toEqual(["Ctrl K commands", "Esc leave"]);
  await expect(page.locator(".keys > .btn kbd")).toHaveCount(0);
  await page.keyboard.type("make");
  await expect.poll(() => listed(page)).toEqual(["Ctrl K commands", "Esc clear"]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await fleet.select(id);
  await page.keyboard.press("D");
  await expect(page.getByLabel("Why not, and what instead")).toBeFocused();
  await expect.poll(() => listed(page)).toEqual(["↵ deny", "⇧↵ new line", "Ctrl K commands", "Esc cancel"]);
  await page.keyboard.press("Escape");
  await expect.poll(() => listed(page)).toContain("y allow");
});

test("Escape in a text field of the drawer leaves the field, and then closes the drawer", async ({
  fleet,
  page,
}) => {
  const id = await fleet.start();
  void fleet.ask(id, "Bash", { command: "make" });
  await fleet.open(`#/session/${id}`);
  const drawer = page.locator("[data-drawer]");
  await expect(allow(drawer)).toBeVisible();
  await fleet.waitForKeys();
  await page.keyboard.press("D");
  await expect(drawer.getByLabel("Why not, and what instead")).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(drawer.getByLabel("Why not, and what instead")).toHaveCount(0);
  await expect(drawer).toBeVisible();
  await expect.poll(() => listed(page)).toContain("Esc close");
  await page.keyboard.press("Escape");
  await expect(drawer).toHaveCount(0);
});

test("a menu and a dialog list their own keys", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start();
  await expect(fleet.card(id)).toBeVisible();
  await page.getByRole("button", { name: "Density: Comfortable" }).press("Enter");
  await expect.poll(() => listed(page)).toEqual(["↑ ↓ move", "↵ choose", "Esc close"]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await expect.poll(() => listed(page)).toEqual(["↑ ↓ move", "↵ choose", "Esc close"]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await expect.poll(() => listed(page)).toEqual(["Esc close"]);
  await page.keyboard.press("Escape");
  // Nothing needs the person, so there is no next.
  await expect.poll(() => listed(page)).toEqual(["j k move", "/ search"]);
});

test.describe("in a view without cards", () => {
  test.use({ fleetKind: "resting" });

  for (const [view, rows, keys] of [
    ["log", ".log-row", ["j k move", "n next", "/ search", "g b board"]],
    ["hosts", null, ["n next", "g b board"]],
    // There is no effort to search.
    ["efforts", null, ["n next", "g b board"]],
  ] as const)
    test(`no key acts on the card that was selected before the view ${view} opened`, async ({
      fleet,
      page,
    }) => {
      await fleet.open();
      await page.keyboard.press("n");
      await expect.poll(() => listed(page)).toContain("x pick");
      await page.goto(`${fleet.server.url}#/${view}`);
      if (rows) await expect(page.locator(rows).first()).toBeVisible();
      await expect.poll(() => listed(page)).toEqual(keys);
      await expect(page.locator(".key-target")).toHaveText(
        view === "hosts" ? "Nothing selected" : "No row selected",
      );
      for (const key of ["o", "t", "m", "x", "r"]) {
        await page.keyboard.press(key);
        await expect(fleet.refusal()).toContainText("no such key here");
        await expect(fleet.refusal()).toContainText(key);
      }
      await page.keyboard.press("p");
      await page.keyboard.press("1");
      await expect(fleet.refusal()).toContainText("no card is selected");
      await expect(page.locator("[data-drawer]")).toHaveCount(0);
      if (!rows) {
        await page.keyboard.press("/");
        await expect(fleet.refusal()).toContainText("there is nothing to search here");
        return;
      }
      await page.keyboard.press("j");
      await expect.poll(() => listed(page)).toContain("↵ open");
      const row = await page.locator(`${rows}:focus`).getAttribute("href");
      await page.keyboard.press("o");
      await expect(page.locator("[data-drawer]")).toBeVisible();
      expect(row).toContain(page.url().split("#")[1] ?? "nothing");
    });

  test("keys act on the row with the focus, never on the card selected before", async ({ fleet, page }) => {
    await fleet.open();
    await page.keyboard.press("n");
    await expect.poll(() => listed(page)).toContain("x pick");
    await page.goto(`${fleet.server.url}#/overview`);
    await expect(page.locator(".row-name").first()).toBeVisible();
    await expect.poll(() => listed(page)).toEqual(["j k move", "n next", "/ search", "g b board"]);
    await expect(page.locator(".key-target")).toHaveText("No row selected");
    await page.keyboard.press("o");
    await expect(fleet.refusal()).toContainText("no such key here");
    await expect(page.locator("[data-drawer]")).toHaveCount(0);
    await page.keyboard.press("j");
    await expect.poll(() => listed(page)).toContain("↵ open");
    const row = await page.locator(".row-name:focus").getAttribute("href");
    await page.keyboard.press("o");
    await expect(page.locator("[data-drawer]")).toBeVisible();
    expect(page.url()).toContain(row ?? "nothing");
  });
});

for (const width of [800, 1024, 1600])
  test(`the way out of the drawer is listed at ${width} px`, async ({ fleet, page }) => {
    await page.setViewportSize({ width, height: 800 });
    const id = await fleet.start("A long title that says what should be done with the totals of the store");
    void fleet.ask(id, "Bash", { command: "cargo test --workspace" });
    void fleet.ask(await fleet.start("another"), "Bash", { command: "make" });
    await fleet.open(`#/session/${id}`);
    await expect(allow(page.locator("[data-drawer]"))).toBeVisible();
    const keys = await listed(page);
    expect(keys).toContain("y allow");
    expect(keys).toContain("n next");
    expect(keys.at(-1)).toBe("Esc close");
    const footer = page.locator("[data-drawer] .keys");
    expect(await footer.evaluate((e) => e.scrollWidth - e.clientWidth)).toBeLessThanOrEqual(0);
  });

test("n is listed only while there is another session to go to, and is refused visibly if there is none", async ({
  fleet,
  page,
}) => {
  await fleet.open();
  const id = await fleet.start();
  void fleet.ask(id, "Bash", { command: "git push --force" });
  await expect(fleet.cardIn("Needs You", id)).toBeVisible();
  await fleet.waitForKeys();
  await expect.poll(() => listed(page)).toContain("n next");
  await page.keyboard.press("n");
  await expect(fleet.card(id)).toBeFocused();
  await expect.poll(() => listed(page)).not.toContain("n next");
  await page.keyboard.press("n");
  await expect(fleet.refusal()).toContainText("there is no other that needs you");
});

test("the note with Undo names what was answered in words", async ({ fleet, page }) => {
  await fleet.open();
  const id = await fleet.start();
  void fleet.ask(id, "AskUserQuestion", { questions });
  await expect(fleet.cardIn("Needs You", id)).toBeVisible();
  await fleet.waitForKeys();
  await fleet.select(id);
  await page.keyboard.press("1");
  await page.keyboard.press("y");
  await expect(page.locator(".undo-note")).toContainText("question · api");
});

test("Escape in the search clears it, then goes back to the selected card", async ({ fleet, page }) => {
  const id = await fleet.start("Tidy the totals");
  await fleet.block(id, "make");
  await fleet.open();
  await fleet.select(id);
  await page.keyboard.press("/");
  await expect(page.locator("#search")).toBeFocused();
  await page.keyboard.type("totals");
  await page.keyboard.press("Escape");
  await expect(page.locator("#search")).toBeFocused();
  await expect(page.locator("#search")).toHaveValue("");
  await page.keyboard.press("Escape");
  await expect(fleet.card(id)).toBeFocused();
});
