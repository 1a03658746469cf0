import { defineConfig } from "@playwright/test";
import { args, executablePath } from "./e2e/browser.mjs";

export default defineConfig({
  globalSetup: "./e2e/setup.ts",
  testDir: "e2e",
  // The load test runs last and alone, because it measures.
  projects: [
    { name: "tests", testMatch: "*.spec.ts", testIgnore: "load.spec.ts" },
    { name: "load", testMatch: "load.spec.ts", dependencies: ["tests"] },
  ],
  timeout: 60_000,
  expect: { timeout: 10_000 },
  workers: 2,
  // A test that passes on the second try is listed as flaky: the machine may be building at the same time.
  retries: process.env.CI ? 1 : 0,
  fullyParallel: true,
  // `cargo xtask test` reads flaky tests from `E2E_RESULT`.
  reporter: [
    ["list"],
    ...(process.env.E2E_RESULT ? [["json", { outputFile: process.env.E2E_RESULT }] as const] : []),
  ],
  use: {
    viewport: { width: 1600, height: 1000 },
    colorScheme: "dark",
    launchOptions: { executablePath, args },
    trace: process.env.TRACE ? "retain-on-failure" : "off",
    screenshot: "only-on-failure",
  },
});
