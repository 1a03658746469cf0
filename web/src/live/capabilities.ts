/**
 * What this daemon can do, read from its OpenAPI document. A button whose route does not exist is not drawn.
 */
import { signal } from "@preact/signals";

export type Capability = "prompt" | "interrupt" | "focus" | "usage" | "park" | "rules" | "hosts";

const PATHS: Record<Capability, string> = {
  prompt: "/api/sessions/{id}/prompt",
  interrupt: "/api/sessions/{id}/interrupt",
  focus: "/api/sessions/{id}/focus",
  usage: "/api/usage",
  park: "/api/sessions/{id}/park",
  rules: "/api/policy/rules",
  hosts: "/api/hosts",
};

const capabilities = signal<ReadonlySet<string>>(new Set());

export const can = (capability: Capability): boolean => capabilities.value.has(PATHS[capability]);

/** Called whenever a stream starts, because the daemon may have been replaced by another version. */
export async function loadCapabilities(): Promise<void> {
  try {
    const response = await fetch("/api/openapi.json", { cache: "no-store" });
    const { paths } = (await response.json()) as { paths: Record<string, unknown> };
    capabilities.value = new Set(Object.keys(paths));
  } catch {
    // The daemon cannot be reached. The header shows that, and the last known capabilities stay.
  }
}
