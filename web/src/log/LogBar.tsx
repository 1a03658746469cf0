/** Search and filters of the log. */
import { persistentSignal } from "../lib/storage";
import { allSessions, revision } from "../live/store";
import { Segmented } from "../ui/Button";
import { FilterChoice, SearchField } from "../ui/FilterControls";
import { type LogFilter, NO_LOG_FILTER, OUTCOMES, type Outcome, PERIODS, type Period } from "./filter";
import type { GroupOrder } from "./groups";
import { logFilter, logRows, nextBefore } from "./logData";

export const groupOrder = persistentSignal<GroupOrder>("log-order", "day");

const change = (part: Partial<LogFilter>) => {
  logFilter.value = { ...logFilter.value, ...part };
};

export const isFilteringLog = () => {
  const { text, project, outcome } = logFilter.value;
  return text.trim() !== "" || project !== null || outcome !== "any";
};

/** Clears all filters except the chosen time. */
export const clearLogFilter = () => change({ ...NO_LOG_FILTER, period: logFilter.peek().period });

export function LogBar({ found, projects }: { found: number; projects: string[] }) {
  const { project, outcome, period } = logFilter.value;
  return (
    <div class="bar log-bar" role="search">
      <SearchField
        placeholder="Search titles and last messages"
        label="Search the log"
        value={logFilter.value.text}
        onChange={(text) => change({ text })}
      />
      <FilterChoice
        name="Project"
        value={project}
        choices={[[null, "Any"], ...projectNames(projects).map((name): [string, string] => [name, name])]}
        onChange={(project) => change({ project })}
        isOn={project !== null}
      />
      <FilterChoice<Outcome>
        name="Outcome"
        value={outcome}
        choices={Object.entries(OUTCOMES) as [Outcome, string][]}
        onChange={(outcome) => change({ outcome })}
        isOn={outcome !== "any"}
      />
      <FilterChoice<Period>
        name="Since"
        value={period}
        choices={Object.entries(PERIODS) as [Period, string][]}
        onChange={(period) => change({ period })}
      />
      {isFilteringLog() && (
        <span class="found" role="status">
          {found} found
          {nextBefore.value !== null && " so far"}
          <button type="button" class="btn ghost" onClick={clearLogFilter}>
            Clear
          </button>
        </span>
      )}
      <span class="push" />
      <Segmented<GroupOrder>
        name="Group"
        value={groupOrder.value}
        onChange={(order) => {
          groupOrder.value = order;
        }}
        choices={[
          { value: "day", label: "Day and project" },
          { value: "project", label: "Project and day" },
        ]}
      />
    </div>
  );
}

/** Projects of the digest, of the loaded rows and of the board. */
function projectNames(projects: string[]): string[] {
  void revision.value;
  const live = Array.from(allSessions(), (held) => held.peek().project.name);
  const loaded = logRows.value.map(({ assignment }) => assignment.project.name);
  return [...new Set([...projects, ...live, ...loaded])].sort((a, b) => a.localeCompare(b));
}
