/** Shows the number of sessions that block or ask in the tab's title and icon. */
import { effect } from "@preact/signals";
import { fleetCounts } from "../live/fleetCounts";
import { connection, isOffline } from "../live/stream";

export function startBrowserTab(): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  effect(() => {
    const { needs } = fleetCounts.value;
    const lost = connection.value.kind === "lost" || isOffline.value;
    document.title = `${needs > 0 ? `(${needs}) ` : ""}Flightdeck${lost ? ", not connected" : ""}`;
    if (link) link.href = faviconUrl(needs, lost);
    setBadge(lost ? 0 : needs);
  });
}

/** The number on the icon of an installed page, where the browser supports it. */
function setBadge(needs: number): void {
  const setter = navigator as { setAppBadge?: (n: number) => Promise<void> };
  // Browsers refuse it for a page that is not installed.
  setter.setAppBadge?.(needs).catch(() => undefined);
}

/**
 * With a need the icon is amber with the count, without any it is grey, and without a connection it
 * is only an outline.
 */
export function faviconUrl(count: number, lost: boolean): string {
  const text = count > 99 ? "99" : String(count);
  const lit = count > 0 && !lost;
  const body = lit
    ? `<rect width="32" height="32" rx="7" fill="#F2B33D"/><text x="16" y="23.5" font-family="system-ui,sans-serif" font-size="${text.length > 1 ? 19 : 22}" font-weight="700" text-anchor="middle" fill="#1A1204">${text}</text>`
    : `<rect x="1" y="1" width="30" height="30" rx="7" fill="${lost ? "none" : "#171B21"}" stroke="#8A94A1" stroke-width="2"/><path d="M5 16h7l4 4 4-4h7" fill="none" stroke="#8A94A1" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/>`;
  return `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${body}</svg>`)}`;
}
