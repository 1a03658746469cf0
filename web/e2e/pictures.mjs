#!/usr/bin/env node
//! Takes the pictures in docs/pictures from a seeded fleet: `node e2e/pictures.mjs [name …]`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { chromium } from "@playwright/test";
import { args, executablePath } from "./browser.mjs";

const out = fileURLToPath(new URL("../../docs/pictures/", import.meta.url));
const only = process.argv.slice(2);

async function serve(sessions) {
  const server = spawn("node", ["mock-server.mjs", "--port", "0", "--sessions", String(sessions), "--rate", "0"], { cwd: fileURLToPath(new URL("..", import.meta.url)) });
  const [line] = await once(server.stdout, "data");
  return { url: String(line).trim(), stop: () => server.kill() };
}

const PICTURES = [
  { name: "board-dark", theme: "dark" },
  { name: "board-light", theme: "light" },
  { name: "board-compact", theme: "dark", size: [1280, 800], prefs: { density: '"compact"' } },
  { name: "drawer-dark", theme: "dark", hash: (ids) => `#/session/${ids.find((s) => s.agent_state.state === "needs_permission").id}` },
  { name: "overview-dark", theme: "dark", hash: () => "#/overview" },
  { name: "overview-light", theme: "light", hash: () => "#/overview" },
  { name: "phone-dark", theme: "dark", size: [390, 844], scale: 2 },
  { name: "phone-light", theme: "light", size: [390, 844], scale: 2 },
  { name: "empty-light", theme: "light", size: [1280, 800], sessions: 0 },
  { name: "drift-dark", theme: "dark", size: [1280, 800], order: "drift" },
  { name: "palette-dark", theme: "dark", size: [1280, 800], keys: ["Control+k"] },
  { name: "alerts-light", theme: "light", size: [1280, 800], click: "Notifications" },
];

const browser = await chromium.launch({ executablePath, args: [...args, "--font-render-hinting=none"] });
for (const picture of PICTURES) {
  if (only.length > 0 && !only.includes(picture.name)) continue;
  const server = await serve(picture.sessions ?? 54);
  const [width, height] = picture.size ?? [1600, 1000];
  const context = await browser.newContext({ viewport: { width, height }, deviceScaleFactor: picture.scale ?? 1, colorScheme: picture.theme });
  const page = await context.newPage();
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && console.log(picture.name, m.text()));
  page.on("pageerror", (e) => console.log(picture.name, String(e)));
  if (picture.order) await fetch(`${server.url}__mock/${picture.order}`, { method: "POST" });
  for (const [key, value] of Object.entries(picture.prefs ?? {})) await page.addInitScript(([k, v]) => localStorage.setItem(`flightdeck.${k}`, v), [key, value]);
  const { sessions } = await (await fetch(`${server.url}api/sessions`)).json();
  await page.goto(server.url + (picture.hash?.(sessions) ?? ""));
  await page.waitForSelector(picture.sessions === 0 ? ".checks" : "[data-card], .seg");
  for (const key of picture.keys ?? []) await page.keyboard.press(key);
  if (picture.click) await page.getByRole("button", { name: picture.click }).click();
  await page.waitForTimeout(700);
  await page.screenshot({ path: `${out}${picture.name}.png` });
  await context.close();
  server.stop();
  console.log(picture.name);
}
await browser.close();
