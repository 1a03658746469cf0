import { defineConfig } from "@playwright/test";
import { args, executablePath } from "./e2e/browser.mjs";

export default defineConfig({
  globalSetup: "./e2e/setup.ts",
  testDir: "e2e",
  // The load run comes last and alone: it measures.
  projects: [{ name: "stories", testMatch: "*.spec.ts", testIgnore: "load.spec.ts" }, { name: "load", testMatch: "load.spec.ts", dependencies: ["stories"] }],
  timeout: 60_000,
  expect: { timeout: 10_000 },
  workers: 2,
  // A second try is listed as flaky: a place to look, on a machine that may be building something beside us.
  retries: process.env.CI ? 1 : 0,
  fullyParallel: true,
  // `E2E_RESULT` is where `cargo xtask test` looks for stories that needed a second try.
  reporter: [["list"], ...(process.env.E2E_RESULT ? [["json", { outputFile: process.env.E2E_RESULT }] as const] : [])],
  use: { viewport: { width: 1600, height: 1000 }, colorScheme: "dark", launchOptions: { executablePath, args }, trace: process.env.TRACE ? "retain-on-failure" : "off", screenshot: "only-on-failure" },
});
