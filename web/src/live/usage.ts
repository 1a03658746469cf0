/** Spend and rate limits for the header, polled every minute. */
import { effect, signal } from "@preact/signals";
import type { Usage } from "../generated/Usage";
import { getHours } from "./api";
import { can } from "./capabilities";

export const usage = signal<Usage | null>(null);

const POLL_MS = 60_000;
const HOURS_MS = 11 * 3_600_000;

/**
 * Midnight, or 11 hours ago if that is earlier: the bars of the last twelve hours continue after midnight.
 */
function sinceTime(): Date {
  const midnight = new Date().setHours(0, 0, 0, 0);
  return new Date(Math.min(midnight, Date.now() - HOURS_MS));
}

export async function refreshUsage(): Promise<void> {
  if (document.hidden || !can("usage")) return;
  try {
    usage.value = await getHours(sinceTime().toISOString());
  } catch {
    // Not available: the header shows the sum of the cards instead.
    usage.value = null;
  }
}

export function pollUsage(): void {
  effect(() => {
    if (can("usage")) void refreshUsage();
  });
  setInterval(() => void refreshUsage(), POLL_MS);
  document.addEventListener("visibilitychange", () => void refreshUsage());
}
