import { defineConfig } from "vitest/config";

// `npm run dev` shows a running daemon's data with hot reload.
const daemon = process.env.FLIGHTDECK_URL ?? "http://127.0.0.1:47892";
const proxied = { target: daemon, changeOrigin: true, headers: { origin: daemon } };

export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  server: { proxy: { "/api": proxied, "/hook": proxied, "/healthz": proxied } },
  // Nothing is inlined: the daemon's CSP allows scripts and styles only from its own files.
  build: {
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  // A machine that also builds may delay a test for longer than the default of five seconds.
  test: { include: ["test/**/*.test.ts"], environment: "node", testTimeout: 60_000 },
});
