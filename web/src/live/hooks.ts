//! Are our hooks still in place, and do events arrive? Asked now and then; the stream carries everything else.
import { effect, signal } from "@preact/signals";
import type { HookStatus } from "../generated/HookStatus";
import { learnAbilities } from "./able";
import { getHookStatus } from "./api";
import { connection } from "./stream";

export const hookStatus = signal<HookStatus | null>(null);

const EVERY_MS = 10_000;

async function look(): Promise<void> {
  try {
    hookStatus.value = await getHookStatus();
  } catch {
    // The connection says so already; an old answer would be a lie.
    hookStatus.value = null;
  }
}

export function followHooks(): void {
  setInterval(() => !document.hidden && void look(), EVERY_MS);
  effect(() => {
    if (connection.value.kind !== "live") return;
    void look();
    void learnAbilities();
  });
}
