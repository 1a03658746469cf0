/** Search and filters of the efforts. */
import { Segmented } from "../ui/Button";
import { FilterChoice, SearchField } from "../ui/FilterControls";
import { effortFilter, efforts } from "./effortsData";
import { type EffortFilter, NO_EFFORT_FILTER, type Which } from "./filter";

const change = (part: Partial<EffortFilter>) => {
  effortFilter.value = { ...effortFilter.value, ...part };
};

export const isFilteringEfforts = () => {
  const { text, project, skill } = effortFilter.value;
  return text.trim() !== "" || project !== null || skill !== null;
};

/** Clears all filters except the choice of active or finished efforts. */
export const clearEffortFilter = () => change({ ...NO_EFFORT_FILTER, which: effortFilter.peek().which });

export function EffortBar({ found }: { found: number }) {
  const { text, project, skill, which } = effortFilter.value;
  return (
    <div class="bar efforts-bar" role="search">
      <SearchField
        placeholder="Search efforts, logs, handoffs"
        label="Search the efforts"
        value={text}
        onChange={(text) => change({ text })}
      />
      <FilterChoice
        name="Project"
        value={project}
        choices={choicesOf(project, (effort) => effort.project.name)}
        onChange={(project) => change({ project })}
        isOn={project !== null}
      />
      <FilterChoice
        name="Skill"
        value={skill}
        choices={choicesOf(skill, (effort) => effort.skill)}
        onChange={(skill) => change({ skill })}
        isOn={skill !== null}
      />
      {isFilteringEfforts() && (
        <span class="found" role="status">
          {found} of {efforts.value.length}
          <button type="button" class="btn ghost" onClick={clearEffortFilter}>
            Clear
          </button>
        </span>
      )}
      <span class="push" />
      <Segmented<Which>
        name="Which"
        value={which}
        onChange={(which) => change({ which })}
        choices={[
          { value: "active", label: "Active" },
          { value: "finished", label: "Finished" },
          { value: "all", label: "All" },
        ]}
      />
    </div>
  );
}

/** The choices of a menu: any, the values of the loaded efforts, and the chosen value. */
function choicesOf(
  chosen: string | null,
  value: (effort: (typeof efforts.value)[number]) => string,
): [string | null, string][] {
  const found = new Set([...efforts.value.map(value), ...(chosen === null ? [] : [chosen])]);
  const sorted = [...found].sort((a, b) => a.localeCompare(b));
  return [[null, "Any"], ...sorted.map((name): [string, string] => [name, name])];
}
