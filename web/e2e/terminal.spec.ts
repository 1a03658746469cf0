//! The next prompt from the board: a real tmux server, and in it a program that behaves like the client.
import type { Page } from "@playwright/test";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Pressed } from "../src/generated/Pressed";
import { binary, type Daemon } from "./daemon";
import { expect, logged, test, TOAST_MS } from "./fleet";

const SESSION = "0b5e7a11-aaaa-4bbb-8ccc-000000000001";
const CLIENT = resolve("../crates/flightdeck/tests/it/fake-client.sh");

const said = (page: Page, text: string) => expect(page.getByRole("status").filter({ hasText: text })).toBeVisible();

/**
 * Presses, and waits until the page has said how that went: later it would take the place of what the next press says.
 * Of a client that is slow to confirm, it says that.
 */
async function answered(page: Page, press: () => Promise<void>, well: string): Promise<void> {
  const [answer] = await Promise.all([page.waitForResponse(/\/(prompt|interrupt)$/), press()]);
  const { confirmed, message } = (await answer.json()) as Pressed;
  await said(page, confirmed ? well : message.slice(1));
}

class Terminal {
  constructor(private readonly daemon: Daemon) {
    this.tmux("new-session", "-d", "-s", "a", "-x", "90", "-y", "24", "-c", daemon.home, "bash", CLIENT, binary(), SESSION);
  }
  tmux(...args: string[]): string {
    const env = { ...this.daemon.env, LANG: "C.UTF-8", TERM: "xterm-256color" };
    return execFileSync("tmux", ["-f", "/dev/null", "-S", join(this.daemon.home, "tmux"), ...args], { env, encoding: "utf8" });
  }
  screen(): string {
    return this.tmux("capture-pane", "-p", "-t", "=a:");
  }
  prompts(): string[] {
    return readFileSync(join(this.daemon.home, "prompts"), "utf8").trimEnd().split("\n");
  }
}

test("where there is no pane the drawer has the daemon's command to resume it, folder and all", async ({ fleet, page, errors }) => {
  await fleet.open();
  const id = await fleet.start("fix it", { cwd: "/home/dev/my api" });
  const wanted = `cd '/home/dev/my api' && claude --resume ${id}`;
  await fleet.open(`#/session/${id}`);
  const foot = page.locator("[data-drawer] footer");
  await expect(foot).toContainText("Flightdeck knows no tmux pane of it");
  await foot.getByRole("button", { name: "Closed it? Copy resume command" }).click();
  await expect(foot.locator("code")).toHaveText(wanted);
  await fleet.hook(id, "SessionEnd", { reason: "prompt_input_exit", cwd: "/home/dev/my api" });
  await expect(foot).toContainText("It ended.");
  await expect(foot.locator("code")).toHaveCount(0);
  await foot.getByRole("button", { name: "Copy resume command" }).click();
  await expect(foot.locator("code")).toHaveText(wanted);
  // The daemon says it in a refusal, and a browser logs every 409.
  await logged(errors, "409", "409");
});

test.describe("the next prompt", () => {
  let terminal: Terminal;
  test.beforeEach(async ({ fleet }) => {
    terminal = new Terminal(fleet.server);
    await fleet.lasts(TOAST_MS);
  });
  test.afterEach(({ errors }) => {
    // A client that ended took its server with it.
    try { terminal.tmux("kill-server"); } catch { /* gone */ }
    // A browser logs every 409, and here they are the story.
    errors.splice(0, errors.length, ...errors.filter((error) => !error.includes("409")));
  });

  test("is typed into the terminal; a draft and a command are asked about", async ({ fleet, page }) => {
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
    const doubt = drawer.getByRole("alert");
    await expect(doubt).toContainText("would run this itself");
    await doubt.getByRole("button", { name: "Cancel" }).click();
    await expect(doubt).toHaveCount(0);
    await box.fill("!and the docs");
    await box.press("Enter");
    await doubt.getByRole("button", { name: "Send as text" }).click();
    await expect(doubt).toContainText("half a thought");
    await doubt.getByRole("button", { name: "Keep it for later" }).click();
    await expect(box).toHaveValue("");
    await expect(doubt).toHaveCount(0);
    await expect.poll(() => terminal.screen()).toContain("half a thought");
    await expect.poll(() => terminal.prompts()).toEqual(["fix the build", " !and the docs"]);
  });

  test("typed and not sent waits on the card and in the drawer, also while the card was gone", async ({ fleet, page }) => {
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

  test("can be followed by an interrupt, which asks twice; focus says where nobody looks; a stop ends the client", async ({ fleet, page }) => {
    await expect.poll(async () => (await fleet.sessions())[0]?.agent_state.state).toBe("idle");
    await fleet.open(`#/session/${SESSION}`);
    const drawer = page.locator("[data-drawer]");
    const box = drawer.getByRole("textbox", { name: "Next prompt" });
    await box.fill("work on it");
    await answered(page, () => box.press("Enter"), "Prompt sent");
    await drawer.getByRole("button", { name: "Interrupt…" }).dblclick();
    await expect(drawer.getByRole("button", { name: "Confirm interrupt" })).toBeEnabled();
    expect((await fleet.sessions())[0]?.agent_state.state).not.toBe("idle");
    await answered(page, () => drawer.getByRole("button", { name: "Confirm interrupt" }).click(), "Interrupted");
    await expect.poll(async () => (await fleet.sessions())[0]?.agent_state.state).toBe("idle");
    await drawer.getByRole("button", { name: "Go to terminal" }).click();
    await said(page, "No terminal shows that tmux server");
    await drawer.getByRole("button", { name: "Stop…" }).dblclick();
    const stop = drawer.getByRole("button", { name: "Confirm: end the session" });
    await expect(stop).toBeEnabled();
    expect((await fleet.sessions())[0]?.ended_at).toBeNull();
    await stop.click();
    await said(page, "Told to end");
    await expect.poll(async () => (await fleet.sessions())[0]?.agent_state.group).toBe("done");
  });
});
