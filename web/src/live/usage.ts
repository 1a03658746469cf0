//! Spend and rate limits for the header. Where the daemon does not tell, the header says what it does know.
import { effect, signal } from "@preact/signals";
import type { Usage } from "../generated/Usage";
import { can } from "./able";
import { getHours } from "./api";

export const usage = signal<Usage | null>(null);

const EVERY_MS = 60_000;
const HOURS_MS = 11 * 3_600_000;

/** Today, and at night the evening before: the bars of the last twelve hours do not begin anew at midnight. */
function begin(): Date {
  const midnight = new Date().setHours(0, 0, 0, 0);
  return new Date(Math.min(midnight, Date.now() - HOURS_MS));
}

export async function lookAtUsage(): Promise<void> {
  if (document.hidden || !can("usage")) return;
  try {
    usage.value = await getHours(begin().toISOString());
  } catch {
    // Not offered, or not reachable: the header falls back to the cards it has.
    usage.value = null;
  }
}

export function followUsage(): void {
  effect(() => {
    if (can("usage")) void lookAtUsage();
  });
  setInterval(() => void lookAtUsage(), EVERY_MS);
  document.addEventListener("visibilitychange", () => void lookAtUsage());
}
