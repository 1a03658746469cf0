/** One scrolling lane of cards, with headings for project groups or cache tiers. */
import { plural, usd } from "../lib/format";
import { folded, toggleFolded } from "../lib/preferences";
import { revision, sessionSignal } from "../live/store";
import { Icon, WireIcon } from "../ui/Icon";
import { BoardItem } from "./BoardItem";
import type { Lane, Section } from "./layout";

export function LaneView({ lane, virtualized, label }: { lane: Lane; virtualized: boolean; label: string }) {
  return (
    <div
      class={lane.name === "done" ? "lane flush" : "lane"}
      data-lane={lane.name}
      role="group"
      aria-label={label}
    >
      {lane.sections.map((section, i) => (
        <SectionView
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

type SectionProps = { section: Section; lane: Lane; virtualized: boolean; first: boolean };

function SectionView({ section, lane, virtualized, first }: SectionProps) {
  const foldKey = `${lane.name}/${section.project}`;
  const open = section.project === null || !folded.value.includes(foldKey);
  return (
    <>
      {section.project !== null && (
        <GroupHead
          project={section.project}
          ids={section.ids}
          open={open}
          onToggle={() => toggleFolded(foldKey)}
        />
      )}
      {section.tier !== null && lane.sections.length > 1 && !(first && section.tier === "warm") && (
        <TierLine tier={section.tier} count={section.ids.length} />
      )}
      {open &&
        section.ids.map((id) => (
          <BoardItem
            key={id}
            id={id}
            row={lane.name === "done"}
            inProject={section.project !== null}
            virtualized={virtualized}
          />
        ))}
    </>
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

type GroupHeadProps = { project: string; ids: string[]; open: boolean; onToggle: () => void };

/** The heading of a project group. A folded group still shows the state icons of its sessions. */
function GroupHead({ project, ids, open, onToggle }: GroupHeadProps) {
  // Reads the store once per frame; subscribing to each card of the group would cost more.
  void revision.value;
  const sessions = ids.map((id) => sessionSignal(id)?.peek()).filter((s) => s !== undefined);
  const worktrees = new Set(sessions.map((s) => s.project.worktree).filter(Boolean)).size;
  const cost = sessions.reduce((sum, s) => sum + (s.cost?.usd_micros ?? 0), 0);
  return (
    <button type="button" class="group-head" aria-expanded={open} onClick={onToggle}>
      <Icon name={open ? "down" : "right"} small />
      <b class="clip">{project}</b>
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
