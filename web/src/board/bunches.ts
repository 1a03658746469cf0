/**
 * Asks that are alike, of several sessions or of one. They are drawn together on one card and answered by one press.
 */
import { signal } from "@preact/signals";
import { likenesses, plainAsksOf } from "../ask/plainAsk";
import { openAsks } from "../card/headline";
import type { Ask } from "../generated/Ask";
import type { Session } from "../generated/Session";
import { groupBy } from "../lib/groupBy";

export type BunchMember = { session: string; ask: string };
export type Bunch = {
  /** Those of the session whose card shows the bunch come first. */
  members: BunchMember[];
  /** The bunch is of several sessions: it takes the whole card. Else it is a part of the card of its session. */
  whole: boolean;
  /** Other sessions that ask nothing else: their cards are left out. */
  folded: string[];
};

/** Bunches by the session whose card shows them. */
export type Bunches = Record<string, Bunch[]>;

export const wholeBunch = (bunches: Bunches, id: string): Bunch | undefined =>
  bunches[id]?.find(({ whole }) => whole);

export const sessionsIn = ({ members }: Bunch): number => new Set(members.map(({ session }) => session)).size;

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

type Asking = { session: Session; ask: Ask };

/** `sessions` are in the order of their lane. */
export function bunchesIn(sessions: Session[], splitAsks: string[], before: BunchesBefore): Bunches {
  const bunches: Bunches = {};
  for (const alike of alikeGroups(sessions, splitAsks))
    for (const bunch of bunchesOf(alike, before)) {
      const host = bunch.members[0]?.session ?? "";
      bunches[host] = [...(bunches[host] ?? []), bunch];
    }
  return bunches;
}

function alikeGroups(sessions: Session[], splitAsks: string[]): Asking[][] {
  const groups: Asking[][] = [];
  const groupOf = new Map<string, Asking[]>();
  for (const session of sessions) {
    for (const ask of plainAsksOf(session)) {
      if (splitAsks.includes(ask.id)) continue;
      const texts = likenesses(ask);
      const known = texts.map((text) => groupOf.get(text)).find((group) => group !== undefined);
      const group = known ?? [];
      if (!known) groups.push(group);
      group.push({ session, ask });
      for (const text of texts) if (!groupOf.has(text)) groupOf.set(text, group);
    }
  }
  return groups;
}

/** One bunch of several sessions if one of them asks nothing else, so that its card can show it. Else one per session. */
function bunchesOf(alike: Asking[], before: BunchesBefore): Bunch[] {
  const ids = new Set(alike.map(({ ask }) => ask.id));
  const asksNothingElse = ({ session }: Asking) => openAsks(session).every(({ id }) => ids.has(id));
  // The card under the pointer must not become a bunch, and must not disappear into one.
  const isHeld = ({ session: { id } }: Asking) => id === before.held && !(id in before.bunches);
  const members = alike.filter((one) => !(isHeld(one) && asksNothingElse(one)));
  const alone = sessionsOf(members.filter(asksNothingElse));
  const host = hostOf(alone, before);
  if (host !== undefined && sessionsOf(members).length > 1)
    return [{ members: inOrder(members, host), whole: true, folded: alone.filter((id) => id !== host) }];
  return [...groupBy(members, ({ session }) => session.id)]
    .filter(([, own]) => own.length > 1 && !own.some(isHeld))
    .map(([id, own]) => ({ members: inOrder(own, id), whole: false, folded: [] }));
}

const sessionsOf = (asking: Asking[]): string[] => [...new Set(asking.map(({ session }) => session.id))];

function inOrder(asking: Asking[], host: string): BunchMember[] {
  const members = asking.map(({ session, ask }) => ({ session: session.id, ask: ask.id }));
  return [
    ...members.filter(({ session }) => session === host),
    ...members.filter(({ session }) => session !== host),
  ];
}

/** The selected card stays, else the card that stood for them before, else the first. */
function hostOf(ids: string[], { bunches, held, selected }: BunchesBefore): string | undefined {
  const find = (wanted: (id: string) => boolean) => ids.find(wanted);
  return find((id) => id === selected) ?? find((id) => id === held) ?? find((id) => id in bunches) ?? ids[0];
}
