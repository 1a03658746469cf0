/** The empty board, and problems with the hooks. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "./fleet";

test.describe("first run and hooks", () => {
  test("without sessions the page shows what it waits for and what to try, until the first card replaces it", async ({
    fleet,
    page,
  }) => {
    await fleet.open();
    await expect(page.getByRole("heading", { name: "Waiting for the first session" })).toBeVisible();
    // flightdeck is not on the PATH here: the offered command must run anyway.
    const command = page.locator(".cmdline code").first();
    await expect(command).toHaveText(/^\/.*\/flightdeck demo$/);
    const offered = await command.innerText();
    expect(execFileSync("/bin/sh", ["-c", `${offered} --help`], { encoding: "utf8", env: {} })).toContain(
      "Usage: flightdeck demo",
    );
    await expect(page.locator("[data-hooks=off]")).toContainText("Off");
    const id = await fleet.start();
    await expect(fleet.cardIn("Running", id)).toBeVisible();
    await expect(page.locator(".banner")).toHaveCount(0);
  });

  test.describe("on a phone", () => {
    test.use({ viewport: { width: 390, height: 844 } });

    test("the empty page is not wider than the screen, even with a long program path", async ({
      fleet,
      page,
    }) => {
      const deep = (await (await fetch(`${fleet.server.url}hook/status`)).json()) as object;
      const program = `/home/person/${"a-folder-in-a-folder/".repeat(4)}target/release/flightdeck`;
      await page.route("**/hook/status", (route) => route.fulfill({ json: { ...deep, program } }));
      await fleet.open();
      await expect(page.locator(".cmdline").first()).toHaveText(`${program} demo`);
      for (const part of [".lead", ".checks", ".way", ".cmdline .btn", ".empty-in > p"]) {
        const box = await page.locator(part).first().boundingBox();
        expect(box!.x + box!.width, part).toBeLessThanOrEqual(390);
      }
    });
  });

  test("installed hooks that another tool changed are reported with a fix command that works", async ({
    fleet,
    page,
  }) => {
    fleet.server.run("hooks", "install");
    await fleet.start();
    await fleet.open();
    await expect(page.locator("[data-hooks=ok]")).toContainText("In place");
    await expect(page.locator(".banner")).toHaveCount(0);
    const installed = readFileSync(fleet.server.settings, "utf8");
    const changed = JSON.parse(installed) as { hooks: Record<string, unknown> };
    delete changed.hooks.Stop;
    writeFileSync(fleet.server.settings, JSON.stringify(changed, null, 2));
    await page.reload();
    await expect(page.locator(".banner[data-trouble=drifted]")).toContainText(
      "Another tool changed your Claude Code settings: one hook is missing or out of date (Stop)",
    );
    await expect(page.locator(".banner code")).toHaveText(/\/flightdeck hooks repair$/);
    await expect(page.locator("[data-hooks=drifted]")).toContainText("Changed by another tool");
    fleet.server.run("hooks", "repair");
    await page.reload();
    await expect(page.locator("[data-hooks=ok]")).toBeVisible();
    await expect(page.locator(".banner")).toHaveCount(0);
  });

  test.describe("a daemon that registers its hooks", () => {
    test.use({ fleetKind: "hooked" });

    test("removed hooks are reported on the empty page and over the board", async ({ fleet, page }) => {
      await fleet.open();
      await expect(page.locator(".checks")).toContainText(/in your Claude Code settings, \d+ events/);
      fleet.server.run("hooks", "uninstall");
      await page.reload();
      await expect(page.getByRole("heading", { name: "The hooks are not in place" })).toBeVisible();
      await expect(page.locator(".cmdline").first()).toContainText("flightdeck hooks install");
      await fleet.start();
      await expect(page.locator(".banner[data-trouble=missing] code")).toHaveText(
        /\/flightdeck hooks install$/,
      );
    });
  });
});
