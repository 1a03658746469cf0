/** Shows the number of sessions that block or ask in the tab's title and icon. */
import { effect } from "@preact/signals";
import { fleetCounts } from "../live/fleetCounts";
import { connection, isOffline } from "../live/stream";

export function startBrowserTab(): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  effect(() => {
    const { needs } = fleetCounts.value;
    const lost = connection.value.kind === "lost" || isOffline.value;
    document.title = titleText(needs, lost);
    if (link) link.href = faviconUrl(needs, lost);
    setBadge(shownCount(needs, lost));
  });
}

/** Without a connection the number may be wrong, so it is shown nowhere: not in the title, the icon or the badge. */
const shownCount = (needs: number, lost: boolean) => (lost ? 0 : needs);

export function titleText(needs: number, lost: boolean): string {
  const count = shownCount(needs, lost);
  return `${count > 0 ? `(${count}) ` : ""}Flightdeck${lost ? ", not connected" : ""}`;
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
export function faviconUrl(needs: number, lost: boolean): string {
  const count = shownCount(needs, lost);
  const text = count > 99 ? "99+" : String(count);
  const lit = count > 0;
  const body = lit
    ? `<rect width="32" height="32" rx="7" fill="#F2B33D"/><text x="16" y="23.5" font-family="system-ui,sans-serif" font-size="${[22, 19, 15][text.length - 1]}" font-weight="700" text-anchor="middle" fill="#1A1204">${text}</text>`
    : `<rect x="1" y="1" width="30" height="30" rx="7" fill="${lost ? "none" : "#171B21"}" stroke="#8A94A1" stroke-width="2"/><path d="M5 16h7l4 4 4-4h7" fill="none" stroke="#8A94A1" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/>`;
  return `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${body}</svg>`)}`;
}
