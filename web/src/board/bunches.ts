/** Sessions whose asks are alike. They are drawn as one card and answered by one press. */
import { signal } from "@preact/signals";
import { likenesses, plainAskOf } from "../ask/plainAsk";
import type { Session } from "../generated/Session";

/** Maps the session whose card stands for a bunch to all sessions of the bunch, itself first. */
export type Bunches = Record<string, string[]>;

/** Asks that the person wants to see one by one. */
export const split = signal<string[]>([]);

/** What was on screen before a new layout is computed. */
export type BunchesBefore = {
  bunches: Bunches;
  /** The card that must not change now. */
  held: string | null;
  selected: string | null;
};

export const NOTHING_BEFORE: BunchesBefore = { bunches: {}, held: null, selected: null };

/** `sessions` are in the order of their lane. */
export function bunchesIn(sessions: Session[], splitAsks: string[], before: BunchesBefore): Bunches {
  const bunches: Bunches = {};
  for (const alike of alikeGroups(sessions, splitAsks, before)) {
    if (alike.length < 2) continue;
    const leader = leaderOf(alike, before);
    bunches[leader] = [leader, ...alike.filter((id) => id !== leader)];
  }
  return bunches;
}

function alikeGroups(sessions: Session[], splitAsks: string[], before: BunchesBefore): string[][] {
  const groups: string[][] = [];
  const groupOf = new Map<string, string[]>();
  for (const session of sessions) {
    const ask = plainAskOf(session);
    if (!ask || splitAsks.includes(ask.id) || staysAsItIs(session.id, before)) continue;
    const texts = likenesses(ask);
    const known = texts.map((text) => groupOf.get(text)).find((group) => group !== undefined);
    const group = known ?? [];
    if (!known) groups.push(group);
    group.push(session.id);
    for (const text of texts) if (!groupOf.has(text)) groupOf.set(text, group);
  }
  return groups;
}

/** A card that is held must not become a bunch under the pointer. */
const staysAsItIs = (id: string, { bunches, held }: BunchesBefore) => id === held && !(id in bunches);

/** The selected card stays, else the card that stood for them before, else the first. */
function leaderOf(alike: string[], { bunches, held, selected }: BunchesBefore): string {
  const find = (wanted: (id: string) => boolean) => alike.find(wanted);
  return (
    find((id) => id === selected) ??
    find((id) => id === held) ??
    find((id) => id in bunches) ??
    (alike[0] as string)
  );
}
