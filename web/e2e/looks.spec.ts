/** Nothing is cut off, covered or left alone on a line, in places that only a look at the page showed. */
import type { Locator, Page } from "@playwright/test";
import { allow, expect, test } from "./fleet";
import { go } from "./keyboard";

/** How far elements reach beyond the right edge of a box, if they do. */
const beyond = (box: Locator, parts: string) =>
  box.evaluate((around, parts) => {
    const edge = around.getBoundingClientRect().right;
    return Array.from(around.querySelectorAll(parts))
      .filter((part) => part.checkVisibility() && part.getBoundingClientRect().right > edge + 1)
      .map((part) => part.textContent);
  }, parts);

const cut = (page: Page, selector: string) =>
  page
    .locator(selector)
    .evaluateAll((all) =>
      all
        .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth)
        .map((one) => one.textContent),
    );

test.describe("at phone width", () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test("the list of keys is inside its dialog, and the palette shows titles", async ({ fleet, page }) => {
    const id = await fleet.start("Tidy the parquet files of the store and tell me what is left");
    void fleet.ask(id, "Bash", { command: "make" });
    await fleet.open();
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keyboard" });
    await expect(help).toBeVisible();
    expect(await beyond(help, "dd, dt")).toEqual([]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    const first = page.getByRole("option").first().locator(".clip").first();
    await expect(first).toContainText("Tidy the parquet files");
    expect((await first.boundingBox())?.width).toBeGreaterThan(200);
  });

  test("the way out of the drawer is in its first line, and the choices of the digest are inside it", async ({
    fleet,
    page,
  }) => {
    const id = await fleet.start();
    void fleet.ask(id, "Bash", { command: "make" });
    await fleet.open(`#/session/${id}`);
    const head = page.locator(".drawer-head");
    await expect(head.locator(".state")).toBeVisible();
    const [state, close] = [
      await head.locator(".state").boundingBox(),
      await head.getByRole("button", { name: "Close" }).boundingBox(),
    ];
    expect(close?.y ?? Infinity).toBeLessThan((state?.y ?? 0) + (state?.height ?? 0));
    expect((close?.x ?? 0) + (close?.width ?? 0)).toBeGreaterThan(350);
    await page.keyboard.press("Escape");
    await go(page, "a", page.locator(".digest-top"));
    expect(await beyond(page.locator(".digest"), ".segmented > *")).toEqual([]);
    const right = await page.locator(".digest .segmented").evaluate((e) => e.getBoundingClientRect().right);
    expect(right).toBeLessThanOrEqual(390 - 16);
  });
});

test.describe("in the overview at 1024 px", () => {
  test.use({ fleetKind: "demo", viewport: { width: 1024, height: 768 } });

  test("no heading is cut and no time is below the one of the end", async ({ fleet, page }) => {
    await fleet.open("#/overview");
    await expect(page.locator(".seg").first()).toBeVisible();
    const grid = page.locator(".history-grid");
    expect(await beyond(grid, ".axis span, .sum-row *")).toEqual([]);
    const overlaps = await page.locator(".axis:has(.end)").evaluate((axis) => {
      const end = axis.querySelector(".end")?.getBoundingClientRect().left ?? 0;
      return Array.from(axis.querySelectorAll("span:not(.end)"))
        .filter((label) => {
          const { right, width } = label.getBoundingClientRect();
          return label.checkVisibility() && width > 0 && right > end;
        })
        .map((label) => label.textContent);
    });
    expect(overlaps).toEqual([]);
    const sums = await page
      .locator(".sum-row")
      .evaluateAll((rows) => rows.filter((row) => row.scrollHeight > row.clientHeight + 1).length);
    expect(sums).toBe(0);
  });
});

test.describe("on cards", () => {
  test.use({ fleetKind: "demo", viewport: { width: 1440, height: 900 } });

  test("a branch is shown with at least some letters or not at all, and states are whole", async ({
    fleet,
    page,
  }) => {
    await fleet.open();
    await expect(page.locator(".card .branch").first()).toBeAttached();
    const scraps = await page.locator(".card-head .where").evaluateAll((places) =>
      places.flatMap((place) => {
        const branch = place.querySelector(".branch");
        const text = branch?.querySelector(".clip");
        if (!branch || !text) return [];
        const inLine = branch.getBoundingClientRect().top < place.getBoundingClientRect().bottom - 1;
        const isCut = text.scrollWidth > text.clientWidth;
        return inLine && isCut && text.clientWidth < 40 ? [text.textContent] : [];
      }),
    );
    expect(scraps).toEqual([]);
    expect(await cut(page, ".card.is-blocked > .card-head .state > .clip")).toEqual([]);
  });
});

test("the rare ways to answer stand together below the others in the drawer", async ({ fleet, page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  const id = await fleet.start();
  const permission_suggestions = [
    { type: "addDirectories", directories: ["/home/dev/work/quite-a-long-name"], destination: "session" },
  ];
  void fleet.ask(id, "Bash", { command: "make" }, { permission_suggestions });
  await fleet.open(`#/session/${id}`);
  const drawer = page.locator("[data-drawer]");
  await expect(allow(drawer)).toBeVisible();
  const tops = await Promise.all(
    ["Deny with message…", "Deny and interrupt", "Make this a rule…"].map(async (name) =>
      Math.round((await drawer.getByRole("button", { name }).boundingBox())?.y ?? Number.NaN),
    ),
  );
  expect(new Set(tops).size).toBe(1);
});

test.describe("in rows", () => {
  test.use({ fleetKind: "resting", viewport: { width: 1440, height: 900 } });

  test("running sessions have captions over each column, and an unfolded row cuts no other in half", async ({
    fleet,
    page,
  }) => {
    await page.addInitScript(() => localStorage.setItem("flightdeck.density", '"rows"'));
    await page.setViewportSize({ width: 1920, height: 1080 });
    await fleet.open();
    const captions = page.locator(".row-captions p");
    await expect(captions.first()).toContainText("WhatNowTurnCtxCost");
    const shown = await captions.evaluateAll((all) => {
      const box = all[0]?.parentElement?.getBoundingClientRect();
      return all
        .map((one) => one.getBoundingClientRect())
        .filter((one) => box && one.top < box.bottom - 1 && one.height > 0)
        .map(({ left }) => Math.round(left));
    });
    const lefts = await page
      .locator(".running-row")
      .evaluateAll((rows) => [...new Set(rows.map((row) => Math.round(row.getBoundingClientRect().left)))]);
    expect(shown.toSorted()).toEqual(lefts.toSorted());
    await page.keyboard.press("n");
    const detail = page.locator(".row-detail[data-unfolded]");
    await expect(detail).toBeVisible();
    const rest = await detail.evaluate((e) => {
      const row = e.parentElement?.getBoundingClientRect().height ?? 1;
      return e.getBoundingClientRect().height % row;
    });
    expect(rest).toBeLessThan(0.5);
  });
});

test("without a connection words stay readable, no key cap is shown, and times in the drawer have a pause sign", async ({
  fleet,
  page,
  daemonProxy,
}) => {
  const id = await fleet.start();
  void fleet.ask(id, "Bash", { command: "make" });
  await fleet.open("", daemonProxy.url);
  const card = fleet.cardIn("Needs You", id);
  await expect(allow(card)).toBeVisible();
  await fleet.waitForKeys();
  await page.keyboard.press("n");
  await expect(allow(card).locator("kbd")).toBeVisible();
  daemonProxy.cut();
  await expect(page.locator(".lost-banner")).toBeVisible();
  await expect(allow(card)).toBeDisabled();
  await expect(allow(card).locator("kbd")).toBeHidden();
  await expect(card).toContainText("off until connected");
  await expect(card.locator(".ring")).toHaveCount(0);
  expect(await allow(card).evaluate((button) => getComputedStyle(button).opacity)).toBe("1");
  await page.keyboard.press("Enter");
  const since = page.locator(".drawer-head .since time").first();
  await expect(since).toBeVisible();
  expect(await since.evaluate((time) => getComputedStyle(time, "::before").content)).toBe('""');
});

for (const width of [390, 1024, 1440])
  test(`a long tool name leaves the kind of request and the time whole at ${width} px`, async ({
    fleet,
    page,
  }) => {
    await page.setViewportSize({ width, height: 844 });
    const id = await fleet.start("Use the tracker");
    void fleet.ask(id, "mcp__tracker__create_an_issue_in_a_project", { title: "Off by a cent" });
    await fleet.open();
    const head = fleet.card(id).locator(".card-head");
    await expect(head.locator(".what")).toContainText("mcp__tracker");
    expect(await cut(page, ".card .state > .clip")).toEqual([]);
    const [what, since] = [
      await head.locator(".what").boundingBox(),
      await head.locator(".since").boundingBox(),
    ];
    expect((what?.x ?? 0) + (what?.width ?? 0)).toBeLessThanOrEqual(since?.x ?? 0);
    expect(Math.abs((what?.y ?? 0) - (since?.y ?? 0))).toBeLessThan(8);
  });

test("a command wraps after slashes and never between the dashes and the name of an option", async ({
  fleet,
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const id = await fleet.start();
  const command = `tool ${Array.from({ length: 40 }, (_, i) => `--option-${i} /home/dev/folder-${i}/file`).join(" ")}`;
  void fleet.ask(id, "Bash", { command });
  await fleet.open(`#/session/${id}`);
  const shown = page.locator("[data-drawer] .cmd");
  await expect(shown).toHaveText(command);
  const broken = await shown.evaluate((pre) => {
    const lines: { top: number; text: string }[] = [];
    const walker = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent ?? "";
      for (let i = 0; i < text.length; i++) {
        const range = document.createRange();
        range.setStart(node, i);
        range.setEnd(node, i + 1);
        const { top, width } = range.getBoundingClientRect();
        const line = lines.at(-1);
        if (width === 0 || !line || Math.abs(line.top - top) < 4) {
          if (line) line.text += text[i];
          else lines.push({ top, text: text[i] ?? "" });
        } else lines.push({ top, text: text[i] ?? "" });
      }
    }
    return lines
      .slice(0, -1)
      .map(({ text }) => text)
      .filter((text) => !/[\s/-]$/.test(text) || /(^|\s)--?$/.test(text));
  });
  expect(broken).toEqual([]);
});

test("the time of the last turn does not go on after the session ended", async ({ fleet, page }) => {
  const id = await fleet.start();
  await fleet.hook(id, "Stop", { last_assistant_message: "Done." });
  await fleet.hook(id, "SessionEnd", { reason: "prompt_input_exit" });
  await fleet.open(`#/session/${id}`);
  const turn = page.locator("[data-drawer] .facts > span", { hasText: "turn 1" });
  await expect(turn).toHaveText("turn 1");
});

test("a card that waits the first time says once how long", async ({ fleet }) => {
  const id = await fleet.start();
  void fleet.ask(id, "Bash", { command: "make" });
  await fleet.open();
  await expect(fleet.card(id).locator(".since")).toBeVisible();
  await expect(fleet.card(id).locator(".assignment")).toHaveCount(0);
});

test("a form that only its terminal can answer offers no button that leads nowhere", async ({
  fleet,
  page,
}) => {
  const id = await fleet.start();
  await fleet.hook(id, "Elicitation", {
    mcp_server_name: "tickets",
    message: "Which ticket?",
    requested_schema: { type: "object", properties: { close: { type: "boolean", title: "Close it" } } },
  });
  await fleet.open(`#/session/${id}`);
  const ask = page.locator("[data-drawer] .drawer-ask");
  await expect(ask).toContainText("Answer it in its terminal");
  await expect(ask.getByRole("button")).toHaveCount(0);
  const [box, label] = [
    await ask.getByRole("checkbox").boundingBox(),
    await ask.getByText("Close it (optional)").boundingBox(),
  ];
  expect(Math.abs((box?.y ?? 0) - (label?.y ?? Infinity))).toBeLessThan(10);
  expect(label?.x ?? 0).toBeGreaterThan(box?.x ?? Infinity);
});

test("the digest is offered in the log, and the line of keys names no key that does nothing", async ({
  fleet,
  page,
}) => {
  await fleet.open("#/log");
  const line = page.locator("footer.keys");
  await expect(line).toContainText("search");
  await expect(line).not.toContainText("move");
  await fleet.start("Tidy the totals");
  await expect(line).toContainText("move");
  await page.getByRole("button", { name: /^While you were away/ }).click();
  await expect(page.getByRole("dialog", { name: "Digest" })).toBeVisible();
});

test("a long project name stays on its line in the overview of a phone", async ({ fleet, page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const cwd = "/home/dev/a-project-with-quite-a-long-name-for-a-repository";
  await fleet.start("go", { cwd });
  await fleet.open("#/overview");
  const row = page.locator(".lane-row").first();
  await expect(row).toContainText("a-project-with");
  expect(await row.evaluate((e) => e.scrollHeight - e.clientHeight)).toBeLessThanOrEqual(0);
  expect(await row.locator(".dim").evaluate((e) => e.getClientRects().length)).toBe(1);
});

test("the log shows what was said without marks of Markdown", async ({ fleet, page }) => {
  const id = await fleet.start("Look at the totals");
  await fleet.hook(id, "Stop", { last_assistant_message: "**Done**: `sum` is right." });
  await fleet.open("#/log");
  await expect(page.locator(".log-row .came")).toHaveText("Done: sum is right.");
});
