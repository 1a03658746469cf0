/** Fails at once if the daemon or the browser is missing. */
import { existsSync } from "node:fs";
import { executablePath } from "./browser.mjs";
import { binary } from "./daemon";

export default function setup(): void {
  binary();
  if (!existsSync(executablePath))
    throw new Error(`There is no browser at ${executablePath}: install Chromium, or set CHROMIUM.`);
}
