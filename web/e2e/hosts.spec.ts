/** One board for several machines: chips, filter, grouping, the hosts view, and an answer for another machine. */
import { expect, test } from "@playwright/test";
import { postHook } from "./daemon";
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
