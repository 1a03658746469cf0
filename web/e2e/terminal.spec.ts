/** Sending prompts from the board to a real tmux server with a program that behaves like Claude Code. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Page } from "@playwright/test";
import type { Pressed } from "../src/generated/Pressed";
import { binary, type TestDaemon } from "./daemon";
import { expect, logged, TOAST_MS, test } from "./fleet";

const SESSION = "0b5e7a11-aaaa-4bbb-8ccc-000000000001";
const CLIENT = resolve("../crates/flightdeck/tests/it/fake-client.sh");

const expectToast = (page: Page, text: string) =>
  expect(page.getByRole("status").filter({ hasText: text })).toBeVisible();

/** Presses a button and waits for the toast with its result, which would otherwise replace a later toast. */
async function answered(page: Page, press: () => Promise<void>, well: string): Promise<void> {
  const [answer] = await Promise.all([page.waitForResponse(/\/(prompt|interrupt)$/), press()]);
  const { confirmed, message } = (await answer.json()) as Pressed;
  await expectToast(page, confirmed ? well : message.slice(1));
}

class Terminal {
  constructor(private readonly daemon: TestDaemon) {
    this.tmux(
      "new-session",
      "-d",
      "-s",
      "a",
      "-x",
      "90",
      "-y",
      "24",
      "-c",
      daemon.home,
      "bash",
      CLIENT,
      binary(),
      SESSION,
    );
  }
  tmux(...args: string[]): string {
    const env = { ...this.daemon.env, LANG: "C.UTF-8", TERM: "xterm-256color" };
    return execFileSync("tmux", ["-f", "/dev/null", "-S", join(this.daemon.home, "tmux"), ...args], {
      env,
      encoding: "utf8",
    });
  }
  screen(): string {
    return this.tmux("capture-pane", "-p", "-t", "=a:");
  }
  prompts(): string[] {
    return readFileSync(join(this.daemon.home, "prompts"), "utf8").trimEnd().split("\n");
  }
}

test("without a pane the drawer shows the daemon's resume command including the folder", async ({
  fleet,
  page,
  errors,
}) => {
  await fleet.open();
  const id = await fleet.start("fix it", { cwd: "/home/dev/my api" });
  const wanted = `cd '/home/dev/my api' && claude --resume ${id}`;
  await fleet.open(`#/session/${id}`);
  const foot = page.locator("[data-drawer] .drawer-foot");
  await expect(foot).toContainText("Flightdeck knows no tmux pane for it");
  await foot.getByRole("button", { name: "Closed it? Copy resume command" }).click();
  await expect(foot.locator("code")).toHaveText(wanted);
  await fleet.hook(id, "SessionEnd", { reason: "prompt_input_exit", cwd: "/home/dev/my api" });
  await expect(foot).toContainText("This session has ended.");
  await expect(foot.locator("code")).toHaveCount(0);
  await foot.getByRole("button", { name: "Copy resume command" }).click();
  await expect(foot.locator("code")).toHaveText(wanted);
  // The daemon sends the command in a 409 reply, which the browser logs as an error.
  await logged(errors, "409", "409");
});

test.describe("the next prompt", () => {
  let terminal: Terminal;
  test.beforeEach(async ({ fleet }) => {
    terminal = new Terminal(fleet.server);
    await fleet.disableTimer(TOAST_MS);
  });
  test.afterEach(({ errors }) => {
    // The tmux server ends with its last client.
    try {
      terminal.tmux("kill-server");
    } catch {
      /* gone */
    }
    // The browser logs every 409, and this test expects them.
    errors.splice(0, errors.length, ...errors.filter((error) => !error.includes("409")));
  });

  test("the palette names the pane of a session", async ({ fleet, page }) => {
    const pane = async () => (await fleet.sessions())[0]?.seat.pane ?? "";
    await expect.poll(pane).not.toBe("");
    await fleet.open();
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder("Command or session").fill(SESSION);
    await expect(page.getByRole("option").first()).toContainText(await pane());
  });

  test("is typed into the terminal after questions about a draft and a command", async ({ fleet, page }) => {
    await expect.poll(async () => (await fleet.sessions())[0]?.agent_state.state).toBe("idle");
    await fleet.open(`#/session/${SESSION}`);
    const drawer = page.locator("[data-drawer]");
    const box = drawer.getByRole("textbox", { name: "Next prompt" });
    await box.fill("fix the build");
    await box.press("Control+k");
    await expect(page.getByPlaceholder("Command or session")).toBeFocused();
    await page.keyboard.press("Escape");
    await answered(page, () => box.press("Enter"), "Prompt sent");
    await expect(box).toHaveValue("");
    await expect(drawer.getByRole("heading", { level: 2 })).toHaveText("fix the build");

    terminal.tmux("send-keys", "-t", "=a:", "-l", "half a thought");
    await expect.poll(() => terminal.screen()).toContain("half a thought");
    await box.fill("/clear");
    await box.press("Enter");
    const check = drawer.getByRole("alert");
    await expect(check).toContainText("would run this as a command");
    await check.getByRole("button", { name: "Cancel" }).click();
    await expect(check).toHaveCount(0);
    await box.fill("!and the docs");
    await box.press("Enter");
    await check.getByRole("button", { name: "Send as text" }).click();
    await expect(check).toContainText("half a thought");
    await check.getByRole("button", { name: "Keep it for later" }).click();
    await expect(box).toHaveValue("");
    await expect(check).toHaveCount(0);
    await expect.poll(() => terminal.screen()).toContain("half a thought");
    await expect.poll(() => terminal.prompts()).toEqual(["fix the build", " !and the docs"]);
  });

  test("keeps unsent text on the card and in the drawer, even if the card was gone for a while", async ({
    fleet,
    page,
  }) => {
    await expect.poll(async () => (await fleet.sessions())[0]?.agent_state.state).toBe("idle");
    await fleet.open(`#/session/${SESSION}`);
    await page.locator("[data-drawer]").getByRole("textbox", { name: "Next prompt" }).fill("half a prompt");
    await page.getByRole("button", { name: "Close" }).click();
    const box = fleet.card(SESSION).getByRole("textbox", { name: "Next prompt" });
    await expect(box).toHaveValue("half a prompt");
    await page.locator("#search").fill("nowhere to be found");
    await expect(box).toHaveCount(0);
    await page.locator("#search").fill("");
    await expect(box).toHaveValue("half a prompt");
  });

  test("can be followed by an interrupt with confirmation, by focus, which reports that no terminal shows it, and by a stop", async ({
    fleet,
    page,
  }) => {
    await expect.poll(async () => (await fleet.sessions())[0]?.agent_state.state).toBe("idle");
    await fleet.open(`#/session/${SESSION}`);
    const drawer = page.locator("[data-drawer]");
    const box = drawer.getByRole("textbox", { name: "Next prompt" });
    await box.fill("work on it");
    await answered(page, () => box.press("Enter"), "Prompt sent");
    await drawer.getByRole("button", { name: "Interrupt…" }).dblclick();
    await expect(drawer.getByRole("button", { name: "Confirm interrupt" })).toBeEnabled();
    expect((await fleet.sessions())[0]?.agent_state.state).not.toBe("idle");
    await answered(
      page,
      () => drawer.getByRole("button", { name: "Confirm interrupt" }).click(),
      "Interrupted",
    );
    await expect.poll(async () => (await fleet.sessions())[0]?.agent_state.state).toBe("idle");
    await drawer.getByRole("button", { name: "Go to terminal" }).click();
    await expectToast(page, "No terminal is attached to that tmux server");
    await drawer.getByRole("button", { name: "Stop…" }).dblclick();
    const stop = drawer.getByRole("button", { name: "Confirm: end the session" });
    await expect(stop).toBeEnabled();
    expect((await fleet.sessions())[0]?.ended_at).toBeNull();
    await stop.click();
    await expectToast(page, "Told to end");
    await expect.poll(async () => (await fleet.sessions())[0]?.agent_state.group).toBe("done");
  });
});
