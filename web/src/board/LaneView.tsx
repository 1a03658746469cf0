/** One scrolling lane of cards, with headings for project groups or cache tiers. */
import type { ComponentChildren } from "preact";
import { awayMark } from "../hosts/hostText";
import { clockTime, plural, usd } from "../lib/format";
import { density, folded, showParked, toggleFolded } from "../lib/preferences";
import { hosts } from "../live/hosts";
import { revision, sessionSignal } from "../live/store";
import { Icon, WireIcon } from "../ui/Icon";
import { BoardItem, type ItemLook } from "./BoardItem";
import { wholeBunch } from "./bunches";
import { layout } from "./currentLayout";
import { parkedShown } from "./filter";
import type { BoardSection, Lane } from "./layout";

export function LaneView({ lane, virtualized, label }: { lane: Lane; virtualized: boolean; label: string }) {
  return (
    <div
      class={lane.name === "done" ? "lane flush" : "lane"}
      data-lane={lane.name}
      role="group"
      aria-label={label}
    >
      {lane.name === "running" && density.value === "rows" && lane.ids.length > 0 && <RowCaptions />}
      {lane.sections.map((section, i) => (
        <BoardSectionView
          key={section.key}
          section={section}
          lane={lane}
          virtualized={virtualized}
          first={i === 0}
        />
      ))}
    </div>
  );
}

/** On the widest screens. */
const ROW_COLUMNS_MAX = 6;

/** What the columns of running rows are, above each of them. Those that have no column are in a hidden line. */
const RowCaptions = () => (
  <div class="row-captions" aria-hidden="true">
    {Array.from({ length: ROW_COLUMNS_MAX }, (_, i) => (
      <p key={i}>
        <span>What</span>
        <span>Now</span>
        <span class="n">Turn</span>
        <span class="n">Ctx</span>
        <span class="n">Cost</span>
      </p>
    ))}
  </div>
);

/** In the densest view every session is one line; a card that is held among the running ones keeps its form. */
function lookIn({ name }: Lane, id: string): ItemLook {
  if (name === "done") return "done";
  const dense = density.value === "rows";
  if (name === "running") return dense ? "running-row" : "card";
  if (wholeBunch(layout.value.bunches, id)) return dense ? "bunch-row" : "bunch";
  return dense ? "row" : "card";
}

type BoardSectionProps = { section: BoardSection; lane: Lane; virtualized: boolean; first: boolean };

function BoardSectionView({ section, lane, virtualized, first }: BoardSectionProps) {
  const heading = section.project ?? section.host ?? null;
  const foldKey = `${lane.name}/${section.host === undefined ? section.project : section.key}`;
  const open = section.parked ? parkedShown.value : heading === null || !folded.value.includes(foldKey);
  return (
    <>
      {heading !== null && (
        <GroupHead
          name={heading}
          away={<Away host={section.host} />}
          ids={section.ids}
          open={open}
          onToggle={() => toggleFolded(foldKey)}
        />
      )}
      {section.parked && <ParkedHead ids={section.ids} open={open} />}
      {section.tier !== null && lane.sections.length > 1 && !(first && section.tier === "warm") && (
        <TierLine tier={section.tier} count={section.ids.length} />
      )}
      {open &&
        section.ids.map((id) => (
          <BoardItem
            key={id}
            id={id}
            look={lookIn(lane, id)}
            inProject={section.project !== null}
            virtualized={virtualized}
          />
        ))}
    </>
  );
}

/** The heading of parked sessions, with the time at which the next one comes back. */
function ParkedHead({ ids, open }: { ids: string[]; open: boolean }) {
  void revision.value;
  const until = ids.map((id) => sessionSignal(id)?.peek().parked?.until ?? null);
  const timed = until.filter((at) => at !== null).sort();
  const untilEvent = until.length - timed.length;
  const texts = [
    untilEvent > 0 && `until an event ${untilEvent}`,
    timed[0] && `next back ${clockTime(Date.parse(timed[0]))}`,
  ].filter(Boolean);
  return (
    <button
      type="button"
      class="group-head parked-head"
      aria-expanded={open}
      onClick={() => {
        showParked.value = !showParked.value;
      }}
    >
      <Icon name={open ? "down" : "right"} small />
      <Icon name="park" small />
      <b>Parked {ids.length}</b>
      <span class="clip">{texts.join(", ")}</span>
    </button>
  );
}

function TierLine({ tier, count }: { tier: string; count: number }) {
  const name = tier === "cold" ? "Cold cache" : tier === "warm" ? "Warm cache" : "Cache not known";
  return (
    <p class="tier">
      <Icon name={tier === "warm" ? "warm" : "cold"} small />
      {name} {count}
    </p>
  );
}

/** Beside the name of a host: since when it is unreachable, or how far it has caught up. */
function Away({ host }: { host: string | undefined }) {
  const card = hosts.value?.hosts.find(({ name }) => name === host);
  const mark = card && awayMark(card);
  return mark ? <span class={mark.bad ? "gone" : "catching"}>{mark.text}</span> : null;
}

type GroupHeadProps = {
  name: string;
  away: ComponentChildren;
  ids: string[];
  open: boolean;
  onToggle: () => void;
};

/** The heading of the group of a project or a host. A folded group still shows the state icons of its sessions. */
function GroupHead({ name, away, ids, open, onToggle }: GroupHeadProps) {
  // Reads the store once per frame; subscribing to each card of the group would cost more.
  void revision.value;
  const sessions = ids.map((id) => sessionSignal(id)?.peek()).filter((s) => s !== undefined);
  const worktrees = new Set(sessions.map((s) => s.project.worktree).filter(Boolean)).size;
  const cost = sessions.reduce((sum, s) => sum + (s.cost?.usd_micros ?? 0), 0);
  return (
    <button type="button" class="group-head" aria-expanded={open} onClick={onToggle}>
      <Icon name={open ? "down" : "right"} small />
      <b class="clip">{name}</b>
      {away}
      {worktrees > 1 && <span class="dim">{plural(worktrees, "worktree")}</span>}
      <span class="rule" />
      {!open && (
        <span class="minis">
          {sessions.slice(0, 8).map((s) => (
            <span key={s.id} class={`mini-${s.agent_state.role}`}>
              <WireIcon name={s.agent_state.icon} small />
            </span>
          ))}
        </span>
      )}
      <span>{ids.length}</span>
      {cost > 0 && <span class="dim">{usd(cost)}</span>}
    </button>
  );
}
