/** The guard rules of an effort, how many calls each denied, and what each would have done in recorded history. */
import type { Effort } from "../generated/Effort";
import type { GuardCondition } from "../generated/GuardCondition";
import type { GuardReport } from "../generated/GuardReport";
import { plural } from "../lib/format";
import { hookStatus } from "../live/hookStatus";
import { timesIn, useGuardHistory } from "./guardHistory";

export function GuardTable({ effort }: { effort: Effort }) {
  const program = hookStatus.value?.program ?? "flightdeck";
  const count = (id: string) => effort.denials.find(({ rule }) => rule === id)?.count ?? 0;
  const history = useGuardHistory(effort);
  const denied = effort.guards.reduce((sum, { id }) => sum + count(id), 0);
  return (
    <section aria-label="Guard rules">
      <h2>
        Guard rules{" "}
        <span>
          {denied > 0 ? `denied ${plural(denied, "call")} of this effort` : "in order of evaluation"}
        </span>
      </h2>
      {effort.guards.length === 0 ? (
        <p class="dim">
          None. <code>{program} guard add</code> adds one, <code>{program} guard test</code> tries rules on
          recorded calls.
        </p>
      ) : (
        <div class="guards" tabIndex={0} role="region" aria-label="Table of guard rules">
          <table>
            <thead>
              <tr>
                <th>Rule</th>
                <th>When</th>
                <th>Then</th>
                <th>What Claude reads</th>
                <th
                  class="r"
                  title={`How often the rule would have denied, allowed or warned${since(history)}`}
                >
                  {history ? `In ${plural(history.calls, "recorded call")}` : "In recorded calls"}
                </th>
                <th class="r">Denied</th>
              </tr>
            </thead>
            <tbody>
              {effort.guards.map((rule) => (
                <tr key={rule.id}>
                  <td>
                    <code>{rule.id}</code>
                  </td>
                  <td>
                    <Condition when={rule.when} />
                  </td>
                  <td>
                    {rule.then}
                    {rule.once && ", once in a window"}
                  </td>
                  <td class="message">{rule.message}</td>
                  <td class="r">{timesIn(history, rule) ?? "–"}</td>
                  <td class="r">{count(rule.id)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** A dry run looks only through the newest events. */
const since = (history: GuardReport | null) =>
  history?.since ? ` since ${new Date(history.since).toLocaleString("en-GB")}` : "";

const Condition = ({ when: { field, op, value } }: { when: GuardCondition }) => (
  <>
    <code>{field}</code> {op}
    {value != null && (
      <>
        {" "}
        <code>{typeof value === "string" ? value : JSON.stringify(value)}</code>
      </>
    )}
  </>
);
