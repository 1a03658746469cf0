/**
 * Computes the place of each card, as a pure function from sessions and choices to lists of ids. The order is
 * the daemon's `rank`.
 */
import type { Session } from "../generated/Session";
import { groupBy } from "../lib/groupBy";
import type { Grouping, Sort } from "../lib/preferences";
import { type Bunches, type BunchesBefore, bunchesIn, NOTHING_BEFORE } from "./bunches";
import { type Filter, matches } from "./filter";

export type LaneName = "blocked" | "waiting" | "running" | "done";
/** A run of cards with an optional heading: a project, a cache tier, or the parked sessions. */
export type BoardSection = {
  key: string;
  /** The machine that its sessions belong to, if the board is grouped by host. */
  host?: string;
  project: string | null;
  tier: string | null;
  parked: boolean;
  ids: string[];
};
/** `bunched` are sessions of the lane that are drawn as part of another card. */
export type Lane = { name: LaneName; ids: string[]; sections: BoardSection[]; bunched: string[] };
export type Layout = { lanes: Lane[]; bunches: Bunches; shown: number; known: number };

export type LayoutChoices = {
  sort: Sort;
  grouping: Grouping;
  filter: Filter;
  twoLanes: boolean;
  showDone: boolean;
  /** Asks that are shown one by one although they are alike. */
  split: string[];
};

export const EMPTY_LAYOUT: Layout = { lanes: [], bunches: {}, shown: 0, known: 0 };

export function layOut(sessions: Session[], choices: LayoutChoices, before = NOTHING_BEFORE): Layout {
  const lanes = new Map<LaneName, Session[]>(laneNames(choices).map((name) => [name, []]));
  let shown = 0;
  for (const session of sessions) {
    if (!matches(session, choices.filter)) continue;
    const lane = lanes.get(laneOf(session, choices));
    if (!lane) continue;
    lane.push(session);
    shown++;
  }
  const built = [...lanes].map(([name, members]) => buildLane(name, members, choices, before));
  const bunches: Bunches = Object.assign({}, ...built.map((lane) => lane.bunches));
  return { lanes: built.map(({ lane }) => lane), bunches, shown, known: sessions.length };
}

function laneNames({ twoLanes, showDone }: LayoutChoices): LaneName[] {
  const names: LaneName[] = twoLanes ? ["blocked", "waiting", "running"] : ["waiting", "running"];
  return showDone ? [...names, "done"] : names;
}

/**
 * On a wide screen blocked sessions get a lane of their own, because one key answers most of them and a reply
 * takes text.
 */
function laneOf({ agent_state, waiting }: Session, { twoLanes }: LayoutChoices): LaneName {
  if (agent_state.group === "running") return "running";
  if (agent_state.group === "done") return "done";
  return twoLanes && waiting?.kind === "blocks" ? "blocked" : "waiting";
}

function buildLane(
  name: LaneName,
  members: Session[],
  { sort, grouping, split }: LayoutChoices,
  before: BunchesBefore,
): { lane: Lane; bunches: Bunches } {
  members.sort((a, b) =>
    a.rank[sort] < b.rank[sort] ? -1 : a.rank[sort] > b.rank[sort] ? 1 : a.id < b.id ? -1 : 1,
  );
  const needs = name === "blocked" || name === "waiting";
  const grouped = grouping === "all" || (grouping === "quiet" && !needs);
  const aside = members.filter((s) => s.parked !== null);
  const bunches = needs ? bunchesIn(members, split, before) : {};
  const bunched = Object.values(bunches).flatMap((own) => own.flatMap(({ folded }) => folded));
  const shown = members.filter((s) => s.parked === null && !bunched.includes(s.id));
  const sections =
    grouping === "host"
      ? byHost(shown)
      : grouped
        ? byProject(shown)
        : needs && sort === "default"
          ? byTier(shown)
          : oneSection(shown);
  if (aside.length > 0)
    sections.push({ key: "parked", project: null, tier: null, parked: true, ids: aside.map((s) => s.id) });
  return { lane: { name, ids: sections.flatMap((s) => s.ids), sections, bunched }, bunches };
}

const oneSection = (members: Session[]): BoardSection[] =>
  members.length === 0
    ? []
    : [{ key: "all", project: null, tier: null, parked: false, ids: members.map((s) => s.id) }];

/** Projects are sorted by name, so a project keeps its place while its cards come and go. */
function byProject(members: Session[]): BoardSection[] {
  const groups = groupBy(members, (s) => s.project.name);
  return [...groups]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([project, group]) => ({
      key: `project:${project}`,
      project,
      tier: null,
      parked: false,
      ids: group.map((s) => s.id),
    }));
}

/** What the person may have to answer stays in its order within each host. Hosts are sorted by name. */
function byHost(members: Session[]): BoardSection[] {
  const groups = groupBy(members, (s) => s.host ?? "");
  return [...groups]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([host, group]) => ({
      key: `host:${host}`,
      host,
      project: null,
      tier: null,
      parked: false,
      ids: group.map((s) => s.id),
    }));
}

/** Adds a heading where the cache tier changes, which explains the order. */
function byTier(members: Session[]): BoardSection[] {
  const sections: BoardSection[] = [];
  for (const session of members) {
    const tier = session.cache?.status ?? "unknown";
    const last = sections.at(-1);
    if (last?.tier === tier) last.ids.push(session.id);
    // The key counts earlier sections of the same tier instead of all sections, so that a new section does
    // not redraw the others.
    else
      sections.push({
        key: `tier:${tier}:${sections.filter((s) => s.tier === tier).length}`,
        project: null,
        tier,
        parked: false,
        ids: [session.id],
      });
  }
  return sections;
}

/** Keeps the held card where it is shown. Its move is done when it is no longer held. */
export function holdInPlace(next: Layout, shown: Layout, id: string | null): Layout {
  if (id === null) return next;
  const from = shown.lanes.find((lane) => lane.ids.includes(id));
  const to = next.lanes.find((lane) => lane.ids.includes(id));
  if (!from || !to) return next;
  const section = from.sections.find((s) => s.ids.includes(id));
  if (!section) return next;
  const index = section.ids.indexOf(id);
  if (to.name === from.name) {
    const same = to.sections.find((s) => s.ids.includes(id));
    if (same?.key === section.key && same.ids.indexOf(id) === index) return next;
  }
  const lanes = next.lanes
    .map((lane) => without(lane, id))
    .map((lane) =>
      lane.name === from.name ? withHeld(lane, section, from.sections.indexOf(section), index, id) : lane,
    );
  return { ...next, lanes };
}

function without(lane: Lane, id: string): Lane {
  if (!lane.ids.includes(id)) return lane;
  const sections = lane.sections
    .map((s) => ({ ...s, ids: s.ids.filter((other) => other !== id) }))
    .filter((s) => s.ids.length > 0);
  return { ...lane, sections, ids: sections.flatMap((s) => s.ids) };
}

function withHeld(lane: Lane, held: BoardSection, at: number, index: number, id: string): Lane {
  const place = lane.sections.findIndex((s) => s.key === held.key);
  const sections = [...lane.sections];
  const target = sections[place];
  if (target)
    sections[place] = { ...target, ids: target.ids.toSpliced(Math.min(index, target.ids.length), 0, id) };
  else sections.splice(at, 0, { ...held, ids: [id] });
  return { ...lane, sections, ids: sections.flatMap((s) => s.ids) };
}

export function sameLayout(a: Layout, b: Layout): boolean {
  if (a.shown !== b.shown || a.known !== b.known || a.lanes.length !== b.lanes.length) return false;
  if (JSON.stringify(a.bunches) !== JSON.stringify(b.bunches)) return false;
  return a.lanes.every((lane, i) => {
    const other = b.lanes[i];
    return (
      other !== undefined &&
      lane.name === other.name &&
      lane.sections.length === other.sections.length &&
      lane.sections.every(
        (s, k) => s.key === other.sections[k]?.key && sameIds(s.ids, other.sections[k]?.ids ?? []),
      )
    );
  });
}

const sameIds = (a: string[], b: string[]) => a.length === b.length && a.every((id, i) => id === b[i]);
