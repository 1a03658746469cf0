/** One board for several machines: chips, filter, grouping, the hosts view, and an answer for another machine. */
import { expect, test } from "@playwright/test";
import type { Host } from "../src/generated/Host";
import { postHook, TestDaemon } from "./daemon";
import type { Verdict } from "./fleet";
import { HostFleet, hasNats } from "./hosts";
import { servePage } from "./servePage";

const works = async (url: string, id: string, prompt: string) => {
  await postHook(url, { session_id: id, hook_event_name: "SessionStart", source: "startup", cwd: "/w/api" });
  await postHook(url, { session_id: id, hook_event_name: "UserPromptSubmit", prompt, cwd: "/w/api" });
};

const asks = async (url: string, id: string, command: string): Promise<Response> => {
  await works(url, id, "run it");
  const call = { session_id: id, tool_name: "Bash", tool_use_id: "t1", tool_input: { command } };
  await postHook(url, { ...call, hook_event_name: "PreToolUse" });
  return postHook(url, { ...call, hook_event_name: "PermissionRequest" }, { "x-flightdeck-hold": "1" });
};

test.beforeEach(({ page }) => servePage(page));

test("sessions of other machines are marked, grouped, filtered, and answered on their machine", async ({
  page,
}) => {
  test.skip(!hasNats() && !process.env.CI, "nats-server is not installed");
  const fleet = await new HostFleet().start();
  try {
    const hub = await fleet.host("desk", { hub: true });
    const build = await fleet.host("build-1");
    const quiet = await fleet.host("dev-api", { more: 'share = "no_payloads"\n' });
    await works(hub.url, "own", "on the hub itself");
    const verdict = asks(build.url, "one", "cargo test");
    // How this request ends after a failed test does not matter.
    verdict.catch(() => undefined);
    const hidden = asks(quiet.url, "two", "rm -rf build");
    hidden.catch(() => undefined);
    await page.goto(hub.url);
    const card = page.locator('[data-card="one@build-1"]');
    await expect(card.locator(".host-chip")).toHaveText("build-1");
    await expect(page.locator('[data-card="own"] .host-chip')).toHaveText("desk");
    await expect(card).toContainText("goes to build-1");

    const closed = page.locator('[data-card="two@dev-api"]');
    await expect(closed).toContainText(
      "This host shares no commands: they can be denied here, but not allowed",
    );
    await expect(closed.getByRole("button", { name: /^Allow/ })).toHaveCount(0);
    await expect(closed).not.toContainText("rm -rf");
    await expect(page.locator("[data-moved], [data-fresh]")).toHaveCount(0);
    await closed.focus();
    await page.keyboard.press("y");
    await expect(page.locator(".key-refused")).toContainText("can be denied here, but not allowed");
    await closed.getByRole("button", { name: "More ways to answer" }).click();
    await page.getByText("Deny with message…").click();
    await page.getByLabel("Why not, and what instead").fill("Keep the build");
    await closed.getByRole("button", { name: "Deny", exact: true }).click();
    const denied = (await (await hidden).json()) as Verdict;
    expect(denied.hookSpecificOutput.decision).toEqual({ behavior: "deny", message: "Keep the build" });

    await page.getByRole("button", { name: /^Host/ }).click();
    await page
      .getByRole("group", { name: "Filter by host" })
      .getByRole("button", { name: /build-1/ })
      .click();
    await page.keyboard.press("Escape");
    await expect(closed).toHaveCount(0);
    await expect(card).toBeVisible();
    await page.getByRole("button", { name: "Clear", exact: true }).click();

    await page.getByRole("button", { name: "Grouped by project" }).click();
    await page.getByText("Grouped by host", { exact: true }).click();
    await expect(page.locator(".group-head", { hasText: "dev-api" })).toBeVisible();

    await card.getByRole("button", { name: /^Allow/ }).click();
    const allowed = (await (await verdict).json()) as Verdict;
    expect(allowed.hookSpecificOutput.decision.behavior).toBe("allow");

    await page
      .getByRole("navigation", { name: "Views", exact: true })
      .getByRole("link", { name: "Hosts" })
      .click();
    const row = page.locator('tr[data-host="dev-api"]');
    await expect(row).toContainText("no payloads");
    await expect(page.locator('tr[data-host="desk"]')).toContainText("this machine, hub");
    await expect(page.locator(".instrument.hosts")).toContainText("3 of 3 reachable");

    await page.setViewportSize({ width: 390, height: 844 });
    const tops = () =>
      page.locator(".p-nav > *").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
    await expect.poll(async () => (await tops()).length).toBe(7);
    expect(new Set(await tops()).size).toBe(1);
    expect(await page.locator(".host-table").evaluate((e) => e.scrollWidth - e.clientWidth)).toBe(0);
  } finally {
    await fleet.stop();
  }
});

test("a member that is no hub names no host on its cards and says where they are shown", async ({ page }) => {
  test.skip(!hasNats() && !process.env.CI, "nats-server is not installed");
  const fleet = await new HostFleet().start();
  try {
    const member = await fleet.host("alone");
    await works(member.url, "own", "go");
    await page.goto(member.url);
    await expect(page.locator('[data-card="own"]')).toBeVisible();
    await expect(page.locator(".host-chip")).toHaveCount(0);
    await page.goto(`${member.url}#/hosts`);
    await expect(page.getByText("Only a hub shows the sessions of other hosts")).toBeVisible();
  } finally {
    await fleet.stop();
  }
});

const host = (name: string, more: Partial<Host>): Host => ({
  name,
  this: false,
  hub: false,
  kind: "server",
  version: "0.1.0",
  last_seen: new Date().toISOString(),
  unreachable_since: null,
  left: false,
  backlog: 0,
  caught_up_percent: null,
  sessions: 6,
  needs_you: 0,
  clock_ahead_seconds: 0,
  clock_differs: false,
  shares_payloads: true,
  accepts: ["answer"],
  refused: 0,
  refused_because: null,
  ...more,
});

test("on a phone each host has a line for its name, and what is not known is not called none", async ({
  page,
}) => {
  const daemon = await new TestDaemon(["up", "--no-hooks"]).start();
  try {
    const since = new Date(Date.now() - 480_000).toISOString();
    const hosts = [
      host("build-2", { unreachable_since: since, accepts: ["answer", "prompt", "interrupt", "focus"] }),
      host("dev-web-with-a-rather-long-name", { kind: "container", backlog: 2672, caught_up_percent: 70 }),
      host("desk", { this: true, hub: true, kind: "laptop" }),
    ];
    const link = { url: "nats://box", fleet: "main", connected: true, hub: true, backlog: 0, problem: null };
    await page.route("**/api/hosts", (route) => route.fulfill({ json: { hosts, link } }));
    await page.goto(`${daemon.url}#/hosts`);
    const row = (name: string) => page.locator(`tr[data-host="${name}"]`);
    await expect(row("build-2").locator("td").nth(1)).toHaveText(/^unknownsince \d/);
    await expect(row("build-2")).toContainText("min ago");
    await page.setViewportSize({ width: 390, height: 844 });
    const long = row("dev-web-with-a-rather-long-name");
    const name = await long.locator("th b").evaluate((e) => e.getClientRects().length);
    expect(name).toBe(1);
    expect(
      await long
        .locator("small")
        .first()
        .evaluate((e) => e.getBoundingClientRect().height),
    ).toBeLessThan(20);
    expect(await page.locator(".host-table").evaluate((e) => e.scrollWidth - e.clientWidth)).toBe(0);
  } finally {
    await daemon.stop();
  }
});
