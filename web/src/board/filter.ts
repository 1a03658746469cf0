/**
 * The search and filter of the board. Every word of the text must match somewhere; a facet matches any of its
 * chosen values.
 */
import { computed, signal } from "@preact/signals";
import type { Session } from "../generated/Session";
import { showParked } from "../lib/preferences";

export type Facet = "host" | "project" | "branch" | "state" | "model";
export type Filter = { text: string } & Record<Facet, string[]>;

const NONE: Filter = { text: "", host: [], project: [], branch: [], state: [], model: [] };
export const filter = signal<Filter>(NONE);

export const filtering = computed(() => {
  const f = filter.value;
  return f.text.trim() !== "" || FACETS.some((facet) => f[facet].length > 0);
});

/** Parked sessions are folded, unless the person opened them or searches. */
export const parkedShown = computed(() => showParked.value || filtering.value);

export const FACETS: Facet[] = ["host", "project", "branch", "state", "model"];

export const clearFilter = () => {
  filter.value = NONE;
};

export function toggleFacet(facet: Facet, value: string): void {
  const chosen = filter.value[facet];
  const next = chosen.includes(value) ? chosen.filter((v) => v !== value) : [...chosen, value];
  filter.value = { ...filter.value, [facet]: next };
}

export function facetOf(session: Session, facet: Facet): string | null {
  switch (facet) {
    case "host":
      return session.host;
    case "project":
      return session.project.name;
    case "branch":
      return session.git_branch;
    case "state":
      return session.agent_state.state;
    case "model":
      return session.model;
  }
}

export function matches(session: Session, f: Filter): boolean {
  for (const facet of FACETS) {
    if (f[facet].length > 0 && !f[facet].includes(facetOf(session, facet) ?? "")) return false;
  }
  const wanted = f.text.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return true;
  const text = searchText(session);
  return wanted.every((word) => text.includes(word));
}

function searchText(s: Session): string {
  const asked = s.asks.map((ask) => JSON.stringify(ask.tool_input ?? ask.message ?? ""));
  return [
    s.title,
    s.last_user_message,
    s.git_branch,
    s.project.name,
    s.project.worktree,
    s.agent_state.label,
    s.current_activity,
    s.last_assistant_text,
    s.waiting?.label,
    s.seat?.pane,
    s.host,
    s.seat?.name,
    s.id,
    ...asked,
  ]
    .filter(Boolean)
    .join("\n")
    .toLowerCase();
}
