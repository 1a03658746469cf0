/** Which efforts are listed. The daemon filters by lifecycle; the page filters the rest. */
import type { Effort } from "../generated/Effort";
import type { Lifecycle } from "../generated/Lifecycle";

export type Which = Lifecycle | "all";
export type EffortFilter = { text: string; project: string | null; skill: string | null; which: Which };
export const NO_EFFORT_FILTER: EffortFilter = { text: "", project: null, skill: null, which: "all" };

const searched = (effort: Effort) =>
  [
    effort.title,
    effort.skill,
    String(effort.ordinal),
    effort.mode,
    effort.project.name,
    effort.project.worktree,
    effort.seat,
    effort.phase,
    effort.handoff?.payload,
    ...effort.log.map(({ text }) => text),
    ...effort.timeline.map(({ text }) => text),
  ]
    .join("\n")
    .toLowerCase();

/** Every word of the text must be found somewhere. A live change is filtered like what was loaded. */
export function matchesEffortFilter(effort: Effort, { text, project, skill, which }: EffortFilter): boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (
    (which === "all" || effort.lifecycle === which) &&
    (project === null || effort.project.name === project) &&
    (skill === null || effort.skill === skill) &&
    (words.length === 0 || words.every((word) => searched(effort).includes(word)))
  );
}
