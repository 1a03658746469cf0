//! What this daemon can do, from its own list of routes: a button that could only fail is not drawn.
import { signal } from "@preact/signals";

export type Ability = "prompt" | "interrupt" | "focus" | "usage";

const PATHS: Record<Ability, string> = {
  prompt: "/api/sessions/{id}/prompt", interrupt: "/api/sessions/{id}/interrupt", focus: "/api/sessions/{id}/focus", usage: "/api/usage",
};

const abilities = signal<ReadonlySet<string>>(new Set());

export const can = (ability: Ability): boolean => abilities.value.has(PATHS[ability]);

/** Asked whenever a stream begins: the daemon behind it may be another one now. */
export async function learnAbilities(): Promise<void> {
  try {
    const response = await fetch("/api/openapi.json", { cache: "no-store" });
    const { paths } = (await response.json()) as { paths: Record<string, unknown> };
    abilities.value = new Set(Object.keys(paths));
  } catch {
    // Not reachable: the connection says so, and what was known stays.
  }
}
