import { defineConfig } from "vitest/config";

// `npm run dev` draws a running daemon with hot reload.
const daemon = process.env.FLIGHTDECK_URL ?? "http://127.0.0.1:47892";
const proxied = { target: daemon, changeOrigin: true, headers: { origin: daemon } };

export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  server: { proxy: { "/api": proxied, "/hook": proxied, "/healthz": proxied } },
  // Nothing is inlined: the daemon's CSP allows scripts and styles only as files of its own.
  build: { target: "es2023", assetsInlineLimit: 0, modulePreload: { polyfill: false }, reportCompressedSize: true },
  // A machine that builds beside us may stall a story for longer than the five seconds a test has by itself.
  test: { include: ["test/**/*.test.ts"], environment: "node", testTimeout: 60_000 },
});
