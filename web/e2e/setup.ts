//! Says at once, in one sentence, what is missing.
import { existsSync } from "node:fs";
import { executablePath } from "./browser.mjs";
import { binary } from "./daemon";

export default function setup(): void {
  binary();
  if (!existsSync(executablePath)) throw new Error(`There is no browser at ${executablePath}: install Chromium, or set CHROMIUM.`);
}
