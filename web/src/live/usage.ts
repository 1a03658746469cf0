//! Spend and rate limits for the header. Where the daemon does not tell, the header says what it does know.
import { effect, signal } from "@preact/signals";
import type { Usage } from "../generated/Usage";
import { can } from "./able";
import { getUsage } from "./api";

export const usage = signal<Usage | null>(null);

const EVERY_MS = 60_000;

export function followUsage(): void {
  const look = async () => {
    if (document.hidden || !can("usage")) return;
    try {
      const midnight = new Date();
      midnight.setHours(0, 0, 0, 0);
      usage.value = await getUsage(midnight.toISOString());
    } catch {
      // Not offered, or not reachable: the header falls back to the cards it has.
      usage.value = null;
    }
  };
  effect(() => {
    if (can("usage")) void look();
  });
  setInterval(() => void look(), EVERY_MS);
  document.addEventListener("visibilitychange", () => void look());
}
