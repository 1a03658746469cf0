import { defineConfig } from "@playwright/test";
import { args, executablePath } from "./e2e/browser.mjs";

export default defineConfig({
  testDir: "e2e",
  testMatch: "*.spec.ts",
  timeout: 30_000,
  expect: { timeout: 5_000 },
  workers: 2,
  fullyParallel: true,
  reporter: [["list"]],
  use: { viewport: { width: 1600, height: 1000 }, colorScheme: "dark", launchOptions: { executablePath, args }, trace: "retain-on-failure" },
});
