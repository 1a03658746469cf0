/**
 * `FLIGHTDECK_PAGE=dist` tests the page in `dist/` with a daemon that contains an older page, so no rebuild
 * is needed per change.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";

const CSP =
  "default-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";

export async function servePage(page: Page): Promise<void> {
  const dist = process.env.FLIGHTDECK_PAGE;
  if (!dist) return;
  await page.route(/^http:\/\/[^/]+\/(assets\/.*)?(\?.*)?$/, (route) => {
    const path = new URL(route.request().url()).pathname;
    const name = path === "/" ? "index.html" : path;
    const contentType = name.endsWith(".js")
      ? "text/javascript"
      : name.endsWith(".css")
        ? "text/css"
        : "text/html; charset=utf-8";
    return route.fulfill({
      body: readFileSync(join(dist, name)),
      contentType,
      headers: { "content-security-policy": CSP },
    });
  });
}
