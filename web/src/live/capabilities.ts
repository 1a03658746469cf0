/**
 * What this daemon can do, read from its OpenAPI document. A button whose route does not exist is not drawn.
 */
import { signal } from "@preact/signals";
import type { Routes } from "../generated/Routes";

export type Capability = "prompt" | "interrupt" | "focus" | "usage" | "park" | "rules" | "hosts";

const ROUTES: Record<Capability, keyof Routes> = {
  prompt: "POST /api/sessions/{id}/prompt",
  interrupt: "POST /api/sessions/{id}/interrupt",
  focus: "POST /api/sessions/{id}/focus",
  usage: "GET /api/usage",
  park: "POST /api/sessions/{id}/park",
  rules: "POST /api/policy/rules",
  hosts: "GET /api/hosts",
};

const pathOf = (capability: Capability): string => ROUTES[capability].split(" ")[1] ?? "";

const capabilities = signal<ReadonlySet<string>>(new Set());

export const can = (capability: Capability): boolean => capabilities.value.has(pathOf(capability));

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
