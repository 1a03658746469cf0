/** The log: what was asked and the result, and the session at that moment. */
import type { Page } from "@playwright/test";
import type { AssignmentList } from "../src/generated/AssignmentList";
import { expect, type Fleet, test } from "./fleet";
import { command, go } from "./keyboard";
import { allowed, blocked, finished, type PastHook, spoolHooks } from "./pastHooks";

const ID = "00000000-0000-4000-8000-00000000000a";
const OTHER = "00000000-0000-4000-8000-00000000000b";
const rowOf = (page: Page, title: string) => page.locator(".log-row", { hasText: title });

const STARTED: PastHook = [600, "SessionStart", { source: "startup", model: "claude-opus-5-5" }];

/** Plays events of the past and waits until the daemon knows that many assignments. */
async function playPast(
  fleet: Fleet,
  sessions: Record<string, [project: string, hooks: PastHook[]]>,
  known: number,
) {
  for (const [id, [project, hooks]] of Object.entries(sessions))
    spoolHooks(fleet.server, id, project, [STARTED, ...hooks]);
  await expect.poll(async () => (await assignments(fleet)).length, { timeout: 30_000 }).toBe(known);
}

async function assignments(fleet: Fleet) {
  const reply = await fetch(`${fleet.server.url}api/assignments?limit=500`);
  return ((await reply.json()) as AssignmentList).assignments;
}

test("an assignment is in the log from the question to the completion, as it happens", async ({
  fleet,
  page,
}) => {
  await fleet.open("#/log");
  await expect(page.getByRole("heading", { name: "Nothing was asked in this time" })).toBeVisible();
  const id = await fleet.start("Drop the old column");
  const row = rowOf(page, "Drop the old column");
  await expect(row).toContainText(/Asked|Working/);
  await fleet.hook(id, "PreToolUse", { tool_name: "Read", tool_input: {}, tool_use_id: "t1" });
  await fleet.hook(id, "PostToolUse", { tool_name: "Read", tool_input: {}, tool_use_id: "t1" });
  await expect(row).toContainText("Working");
  await fleet.hook(id, "Stop", { last_assistant_message: "Both pass. Should I drop it now or later?" });
  await expect(row).toContainText("Asks you");
  await expect(row.locator(".came")).toContainText("Should I drop it now or later?");
  await fleet.hook(id, "UserPromptSubmit", { prompt: "now" });
  await expect(row).toContainText("Working");
  await fleet.block(id, "make migrate");
  await expect(row).toContainText("Blocked");
  await fleet.hook(id, "PostToolUse", {
    tool_name: "Bash",
    tool_input: { command: "make migrate" },
    tool_use_id: `toolu_${id}_make migrate`,
  });
  await fleet.hook(id, "Stop", { last_assistant_message: "The column is dropped and all tests pass. Done." });
  await expect(row).toContainText("Completed");
  await expect(row.locator(".turns")).toHaveText(/^2/);
  await expect(page.locator(".log-row")).toHaveCount(1);
  await expect(page.getByRole("heading", { name: "Nothing was asked in this time" })).toHaveCount(0);
});

test("search and filters leave the rows that fit, and a row opens by keyboard", async ({ fleet, page }) => {
  await playPast(
    fleet,
    {
      [ID]: ["billing", finished(50, 40, "Store totals as cents", "Totals are integers now. Done.")],
      [OTHER]: [
        "infra",
        [[30, "UserPromptSubmit", { prompt: "Peer the network" }], ...blocked(20, "tofu plan")],
      ],
    },
    2,
  );
  await fleet.open("#/log");
  await expect(page.locator(".log-row")).toHaveCount(2);
  await page.keyboard.press("/");
  await page.keyboard.type("integers billing");
  await expect(page.locator(".log-row")).toHaveCount(1);
  await expect(rowOf(page, "Store totals as cents")).toBeVisible();
  await expect(page.locator(".found")).toContainText("1 found");
  await page.keyboard.type(" nowhere");
  await expect(page.getByText("No assignment fits the search and the filters")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.locator(".log-row")).toHaveCount(2);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Outcome Any" }).click();
  await page.getByRole("button", { name: "Waits for you" }).click();
  await expect(page.locator(".log-row")).toHaveCount(1);
  await expect(rowOf(page, "Peer the network")).toContainText("Blocked");
  await page.getByRole("button", { name: "Project Any" }).click();
  await page.getByRole("button", { name: "billing", exact: true }).click();
  await expect(page.locator(".log-row")).toHaveCount(0);
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  await expect(page.locator(".log-row")).toHaveCount(2);
  await page.keyboard.press("j");
  await expect(page.locator(".log-row").first()).toBeFocused();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(page.locator("[data-drawer]")).toHaveAttribute("data-drawer", ID);
});

test("a row opens its session where it was asked, also if many events followed", async ({ fleet, page }) => {
  const calls = Array.from({ length: 300 }, (_, i): PastHook[] => {
    const call = { tool_name: "Bash", tool_input: { command: `step ${i}` }, tool_use_id: `s${i}` };
    return [
      [200 - i * 0.5, "PreToolUse", call],
      [200 - i * 0.5 - 0.2, "PostToolUse", call],
    ];
  }).flat();
  await playPast(
    fleet,
    {
      [ID]: [
        "api",
        [
          ...finished(300, 290, "Find the slow query", "It is the missing index. Done."),
          [201, "UserPromptSubmit", { prompt: "Now add the index" }],
          ...calls,
        ],
      ],
    },
    2,
  );
  await fleet.open("#/log");
  await rowOf(page, "Find the slow query").click();
  const moment = page.locator("[data-moment]");
  await expect(moment).toContainText("Find the slow query");
  await expect(moment).toBeInViewport();
  await expect(page).toHaveURL(/#\/session\/.*\?at=/);
  await page.keyboard.press("Escape");
  await expect(page).toHaveURL(/#\/log$/);
  await rowOf(page, "Now add the index").click();
  await expect(moment).toContainText("Now add the index");
  await expect(moment).toBeInViewport();
});

test("older assignments are loaded by scrolling and by a search", async ({ fleet, page }) => {
  const many = Array.from({ length: 130 }, (_, i) =>
    finished(500 - i * 3, 499 - i * 3, i === 0 ? "The very first task" : `Task number ${i}`, "It is done."),
  ).flat();
  await playPast(fleet, { [ID]: ["api", many] }, 130);
  await fleet.open("#/log");
  // The newest page is complete before anything is scrolled.
  await expect(rowOf(page, "Task number 129")).toBeVisible();
  await expect(rowOf(page, "The very first task")).toHaveCount(0);
  await expect(page.locator(".log-section h2").last()).toContainText("so far");
  await page.locator(".log").evaluate((list) => list.scrollTo(0, list.scrollHeight));
  await expect(page.locator(".log-row")).toHaveCount(130);
  await expect(page.locator(".log-section h2").last()).not.toContainText("so far");
  await page.reload();
  await expect(rowOf(page, "Task number 129")).toBeVisible();
  await expect(rowOf(page, "The very first task")).toHaveCount(0);
  await page.locator("#search").fill("very first");
  await expect(page.locator(".log-row")).toHaveCount(1);
  await expect(rowOf(page, "The very first task")).toBeVisible();
});

test("the daemon searches, once the person has stopped typing", async ({ fleet, page }) => {
  const many = Array.from({ length: 230 }, (_, i) =>
    finished(700 - i * 3, 699 - i * 3, `${i < 120 ? "An early" : "A late"} task, number ${i}`, "It is done."),
  ).flat();
  await playPast(fleet, { [ID]: ["api", many] }, 230);
  const asked: string[] = [];
  page.on("request", (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname.endsWith("/api/assignments")) asked.push(searchParams.get("text") ?? "");
  });
  await fleet.open("#/log");
  await expect(rowOf(page, "number 229")).toBeVisible();
  // Typed faster than any machine is slow.
  await page.locator("#search").evaluate((field: HTMLInputElement) => {
    for (const text of ["e", "early", "early task"]) {
      field.value = text;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
  });
  await expect(page.locator(".log-row")).toHaveCount(100);
  await expect(page.locator(".found")).toContainText("100 found so far");
  await expect(rowOf(page, "A late task")).toHaveCount(0);
  await page.locator(".log").evaluate((list) => list.scrollTo(0, list.scrollHeight));
  await expect(page.locator(".log-row")).toHaveCount(120);
  await expect(page.locator(".found")).toHaveText(/^120 found/);
  // One page of all rows, then two pages of those that match.
  expect(asked).toEqual(["", "early task", "early task"]);
  const id = await fleet.start("An early task that comes late");
  await expect(page.locator(".log-row").first()).toContainText("An early task that comes late");
  await fleet.hook(id, "Stop", { last_assistant_message: "It is done." });
  await page.locator("#search").fill("");
  await expect(rowOf(page, "number 229")).toBeVisible();
});

test("the chart has the time that agents waited for the person, by project and day", async ({
  fleet,
  page,
}) => {
  await playPast(
    fleet,
    {
      [ID]: [
        "billing",
        [
          [80, "UserPromptSubmit", { prompt: "Try the rollback" }],
          ...blocked(70, "migrate down"),
          ...allowed(51, "migrate down"),
          [50, "Stop", { last_assistant_message: "The rollback works. Done." }],
        ],
      ],
      [OTHER]: [
        "infra",
        [[30, "UserPromptSubmit", { prompt: "Peer the network" }], ...blocked(12, "tofu plan")],
      ],
    },
    2,
  );
  await fleet.open("#/log");
  const chart = page.getByRole("region", { name: "How long agents waited for you" });
  const bars = (project: string, time: string) =>
    chart.getByRole("list", { name: `${project}: agents waited ${time} for you in 7 days` });
  await expect(bars("billing", "19 min")).toBeVisible();
  await expect(bars("infra", "12 min").getByRole("listitem")).toHaveCount(7);
  await expect(bars("All projects", "31 min")).toBeVisible();
  const row = rowOf(page, "Try the rollback");
  await expect(row.locator(".worked")).toContainText("11 min");
  await expect(row.locator(".waited")).toContainText("19 min");
});

test("the filter of the log is in the address, apart from the filter of the board", async ({
  fleet,
  page,
}) => {
  await playPast(
    fleet,
    {
      [ID]: ["billing", finished(50, 40, "Store totals as cents", "Totals are integers now. Done.")],
      [OTHER]: ["infra", finished(30, 20, "Peer the network", "Done.")],
    },
    2,
  );
  await fleet.open("#/log");
  await page.getByLabel("Search the log").fill("integers");
  await page.getByRole("button", { name: /^Since/ }).click();
  await page.getByText("All time", { exact: true }).click();
  await expect(page).toHaveURL(/\?log\.q=integers&log\.since=all#\/log$/);
  await page.reload();
  await expect(page.getByLabel("Search the log")).toHaveValue("integers");
  await expect(page.getByRole("button", { name: /^Since/ })).toContainText("All time");
  await expect(page.locator(".log-row")).toHaveCount(1);
  await page.getByRole("link", { name: "Board", exact: true }).click();
  await expect(fleet.card(ID)).toBeVisible();
  await expect(fleet.card(OTHER)).toBeVisible();
  await expect(page.locator("#search")).toHaveValue("");
});

test("the log is reached by the header, by key and by the palette, and grouping is a choice", async ({
  fleet,
  page,
}) => {
  await playPast(fleet, { [ID]: ["billing", finished(50, 40, "Store totals as cents", "It is done.")] }, 1);
  await fleet.open();
  await page.getByRole("link", { name: "Log", exact: true }).click();
  await expect(page).toHaveURL(/#\/log$/);
  await expect(page.locator(".log-row")).toHaveCount(1);
  await go(page, "b", page.locator("[data-card]"));
  await go(page, "l", page.locator(".log-row"));
  await go(page, "b", page.locator("[data-card]"));
  await command(page, "what was asked", "Go to the log");
  await expect(page.locator(".log-section h3")).toContainText("billing");
  await page.getByRole("button", { name: "Project and day" }).click();
  await expect(page.locator(".log-section h2")).toContainText("billing");
});

test("the card and the drawer show the assignment with its state and the time it waited", async ({
  fleet,
  page,
}) => {
  await playPast(
    fleet,
    {
      [ID]: [
        "api",
        [
          ...finished(60, 50, "Find the slow query", "It is the missing index. Done."),
          [40, "UserPromptSubmit", { prompt: "Now add the index" }],
          ...blocked(12, "make migrate"),
        ],
      ],
    },
    2,
  );
  await fleet.open();
  const line = fleet.card(ID).locator(".assignment");
  await expect(line).toContainText("Blocked");
  await expect(line).toContainText("Now add the index");
  await expect(line).toContainText("waited 12 min");
  await page.goto(`${fleet.server.url}#/session/${ID}`);
  await expect(page.locator("[data-drawer] .assignment")).toContainText("Now add the index");
});

for (const width of [390, 1440]) {
  test(`nothing of the log is off screen at ${width} px`, async ({ fleet, page }) => {
    await page.setViewportSize({ width, height: 844 });
    const long = "a prompt that goes on and on without any end ".repeat(6);
    await playPast(
      fleet,
      { [ID]: ["a-project-with-quite-a-long-name", finished(50, 40, long, "It is done.")] },
      1,
    );
    await fleet.open("#/log");
    await expect(page.locator(".log-row")).toBeVisible();
    const tooWide = await page
      .locator(".app *")
      .evaluateAll((all) =>
        all
          .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 1)
          .map((one) => one.className),
      );
    expect(tooWide).toEqual([]);
  });
}
