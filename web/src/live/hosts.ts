/** The hosts of the fleet, polled while this machine has joined others. */
import { computed, effect, signal } from "@preact/signals";
import type { HostList } from "../generated/HostList";
import { getHosts } from "./api";
import { can } from "./capabilities";
import { allSessions, revision } from "./store";

export const hosts = signal<HostList | null>(null);

/** This machine has joined others: the page then has a view of hosts. */
export const hasHosts = computed(() => hosts.value?.link != null);

/** Sessions of several machines are on the board: each card then names its host. */
export const manyHosts = computed(() => {
  void revision.value;
  for (const session of allSessions()) if (session.peek().owner) return true;
  return false;
});

const POLL_MS = 5_000;

async function refreshHosts(): Promise<void> {
  if (document.hidden || !can("hosts")) return;
  try {
    hosts.value = await getHosts();
  } catch {
    // The header shows the lost connection; an old list would be misleading.
    hosts.value = null;
  }
}

export function pollHosts(): void {
  effect(() => {
    if (can("hosts")) void refreshHosts();
  });
  setInterval(() => void refreshHosts(), POLL_MS);
  document.addEventListener("visibilitychange", () => void refreshHosts());
}
