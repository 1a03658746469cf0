/** The bar with search, filters, and the arrangement of the board. */
import type { ComponentChildren } from "preact";
import { layout } from "../board/currentLayout";
import { clearFilter, FACETS, type Facet, facetOf, filter, filtering, toggleFacet } from "../board/filter";
import type { StateName } from "../generated/StateName";
import { humanize, modelName } from "../lib/format";
import {
  type Density,
  density,
  type Grouping,
  grouping,
  ORDERS,
  type Sort,
  showDone,
  sort,
} from "../lib/preferences";
import { manyHosts } from "../live/hosts";
import { allSessions, revision } from "../live/store";
import { SearchField } from "../ui/FilterControls";
import { Icon } from "../ui/Icon";
import type { IconName } from "../ui/icons";
import { Menu, MenuItem } from "../ui/Menu";

export const Search = () => (
  <SearchField
    placeholder="Search prompt, branch, command"
    label="Search sessions"
    value={filter.value.text}
    onChange={(text) => {
      filter.value = { ...filter.value, text };
    }}
  />
);

export function FilterBar() {
  return (
    <div class="bar" role="search">
      <Search />
      {FACETS.filter((facet) => facet !== "host" || manyHosts.value || filter.value.host.length > 0).map(
        (facet) => (
          <FacetMenu key={facet} facet={facet} />
        ),
      )}
      <MoreMenu />
      <Found />
      <span class="arrangement">
        <GroupingMenu />
        <OrderMenu />
        <DensityMenu />
        <button
          type="button"
          class={showDone.value ? "facet on" : "facet"}
          aria-pressed={showDone.value}
          onClick={() => {
            showDone.value = !showDone.value;
          }}
        >
          <Icon name="check" small />
          Done
        </button>
      </span>
    </div>
  );
}

/** How many sessions the filter shows, and a way out of it. */
export function Found({ class: cls = "found" }: { class?: string }) {
  if (!filtering.value) return null;
  return (
    <span class={cls} role="status">
      {layout.value.shown} of {layout.value.known}
      <button type="button" class="btn ghost" onClick={clearFilter}>
        Clear
      </button>
    </span>
  );
}

export const DENSITIES: { value: Density; label: string; explains: string }[] = [
  { value: "comfortable", label: "Comfortable", explains: "Everything on every card." },
  { value: "compact", label: "Compact", explains: "Cards that need nothing have two lines." },
  { value: "rows", label: "Rows", explains: "One line per session; a key unfolds the selected one." },
];

type ChoiceMenuProps<T extends string> = {
  label: string;
  icon: IconName;
  value: T;
  choices: { value: T; label: string; explains: string }[];
  onChange: (value: T) => void;
};

/** A menu whose choices are each explained in one line. */
function ChoiceMenu<T extends string>({ label, icon, value, choices, onChange }: ChoiceMenuProps<T>) {
  const shown = choices.find((choice) => choice.value === value)?.label;
  return (
    <Menu
      label={label}
      align="end"
      button={(open, toggle) => (
        <button
          type="button"
          class="facet"
          aria-expanded={open}
          onClick={toggle}
          aria-label={`${label}: ${shown}`}
          title={`${label}: ${shown}`}
        >
          <Icon name={icon} small />
          <b class="word">{shown}</b>
          <Icon name="down" small />
        </button>
      )}
    >
      {(close) =>
        choices.map((choice) => (
          <MenuItem
            key={choice.value}
            chosen={choice.value === value}
            onClick={() => {
              onChange(choice.value);
              close();
            }}
          >
            <span class="explained">
              {choice.label}
              <small>{choice.explains}</small>
            </span>
          </MenuItem>
        ))
      }
    </Menu>
  );
}

const OrderMenu = () => (
  <ChoiceMenu
    label="Order of Needs You"
    icon="warm"
    value={sort.value}
    choices={(Object.keys(ORDERS) as Sort[]).map((value) => ({ value, ...ORDERS[value] }))}
    onChange={(value) => {
      sort.value = value;
    }}
  />
);

const DensityMenu = () => (
  <ChoiceMenu
    label="Density"
    icon="strip"
    value={density.value}
    choices={DENSITIES}
    onChange={(value) => {
      density.value = value;
    }}
  />
);
/** In a narrow bar these facets are in the menu More. */
const FOLDED: Facet[] = ["branch", "model"];

function MoreMenu() {
  const chosen = FOLDED.reduce((n, facet) => n + filter.value[facet].length, 0);
  return (
    <Menu
      label="More filters"
      class="only-m"
      button={(open, toggle) => (
        <button type="button" class={chosen ? "facet on" : "facet"} aria-expanded={open} onClick={toggle}>
          More{chosen > 0 && <b>{chosen} chosen</b>}
          <Icon name="down" small />
        </button>
      )}
    >
      {() => (
        <>
          {FOLDED.map((facet) => (
            <MenuGroup key={facet} title={humanize(facet)}>
              <FacetChoices facet={facet} />
            </MenuGroup>
          ))}
        </>
      )}
    </Menu>
  );
}

const MenuGroup = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <div class="menu-group" role="group" aria-label={title}>
    <p class="menu-title">{title}</p>
    {children}
  </div>
);

function FacetMenu({ facet }: { facet: Facet }) {
  const chosen = filter.value[facet];
  return (
    <Menu
      label={`Filter by ${facet}`}
      button={(open, toggle) => (
        <button
          type="button"
          class={`facet facet-${facet}${chosen.length ? " on" : ""}${FOLDED.includes(facet) ? " hide-m" : ""}`}
          aria-expanded={open}
          onClick={toggle}
        >
          {humanize(facet)}{" "}
          <b class="clip">
            {chosen.length === 0
              ? "Any"
              : chosen.length === 1
                ? facetText(facet, chosen[0] ?? "")
                : `${chosen.length} chosen`}
          </b>
          <Icon name="down" small />
        </button>
      )}
    >
      {() => <FacetChoices facet={facet} />}
    </Menu>
  );
}

function FacetChoices({ facet }: { facet: Facet }) {
  void revision.value;
  const counts = new Map<string, number>();
  for (const held of allSessions()) {
    const value = facetOf(held.peek(), facet);
    if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  if (counts.size === 0) return <p class="menu-note">No session has a {facet}.</p>;
  return (
    <>
      {[...counts]
        .sort(([a], [b]) => a.localeCompare(b))
        .map(([value, n]) => (
          <MenuItem
            key={value}
            chosen={filter.value[facet].includes(value)}
            onClick={() => toggleFacet(facet, value)}
          >
            <span class="clip">{facetText(facet, value)}</span>
            <span class="dim">{n}</span>
          </MenuItem>
        ))}
    </>
  );
}

/** The words that the cards use. */
const STATES: Partial<Record<string, string>> = {
  needs_permission: "Permission",
  awaiting_input: "Question",
  awaiting_approval: "Plan",
  error: "Failed",
  acting: "Using a tool",
  waiting_background: "Waiting on background agents",
  session_ended: "Ended",
} satisfies Partial<Record<StateName, string>>;

const facetText = (facet: Facet, value: string) =>
  facet === "model" ? modelName(value) : facet === "state" ? (STATES[value] ?? humanize(value)) : value;

const GROUPINGS: Record<Grouping, string> = {
  none: "Not grouped",
  quiet: "Grouped by project",
  all: "Needs You grouped too",
  host: "Grouped by host",
};

const isOffered = (value: Grouping) => value !== "host" || manyHosts.value || grouping.value === "host";

function GroupingMenu() {
  return (
    <Menu
      label="Grouping"
      align="end"
      button={(open, toggle) => (
        <button
          type="button"
          class={grouping.value === "none" ? "facet" : "facet on"}
          aria-expanded={open}
          aria-label={GROUPINGS[grouping.value]}
          title={`Grouping: ${GROUPINGS[grouping.value]}`}
          onClick={toggle}
        >
          <Icon name="group" small />
          <span class="word">{GROUPINGS[grouping.value]}</span>
        </button>
      )}
    >
      {(close) =>
        (Object.keys(GROUPINGS) as Grouping[]).filter(isOffered).map((value) => (
          <MenuItem
            key={value}
            chosen={grouping.value === value}
            onClick={() => {
              grouping.value = value;
              close();
            }}
          >
            {GROUPINGS[value]}
          </MenuItem>
        ))
      }
    </Menu>
  );
}
