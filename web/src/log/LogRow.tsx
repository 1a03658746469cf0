/** One assignment: what was asked, the result, how long it took. A click opens its session where it began. */
import { standing } from "../assignment/standing";
import { TwoTimes } from "../assignment/TwoTimes";
import type { Reading } from "../assignment/times";
import { plainText } from "../card/lastWords";
import type { AssignmentCost } from "../generated/AssignmentCost";
import { time } from "../lib/clock";
import { clockTime, plural, usd } from "../lib/format";
import { sessionHref } from "../lib/route";
import { rowFocus } from "../lib/selection";
import { Icon } from "../ui/Icon";

export function LogRow({ row }: { row: Reading }) {
  const { assignment: a } = row;
  const { label, icon, tone } = standing(a);
  return (
    <a
      class={`log-row tone-${tone}`}
      href={sessionHref(a.session_id, a.opened_at)}
      data-assignment={a.id}
      {...rowFocus(a.session_id)}
    >
      <span class="when">
        {clockTime(time(a.opened_at))}
        <span>
          {" – "}
          {a.completed_at ? clockTime(time(a.completed_at)) : "now"}
        </span>
      </span>
      <span class="what">
        <span class="asked clip" title={a.title}>
          {a.title}
        </span>
        {a.last_message && (
          <span class="came clip" title={a.last_message}>
            {plainText(a.last_message)}
          </span>
        )}
      </span>
      <span class="outcome">
        <Icon name={icon} spin={icon === "spark"} />
        {label}
      </span>
      <span class="turns" title={plural(a.turns, "turn")}>
        {a.turns}
        <span class="unit">{a.turns === 1 ? " turn" : " turns"}</span>
      </span>
      <TwoTimes row={row} />
      <Cost cost={a.cost} />
      <span class="seat-name path clip" title={a.seat ?? undefined}>
        <bdi>{a.seat}</bdi>
      </span>
    </a>
  );
}

function Cost({ cost }: { cost: AssignmentCost | null }) {
  if (!cost) return <span class="cost" />;
  const unknown = cost.unpriced_models.length > 0;
  return (
    <span
      class="cost"
      title={unknown ? `Without ${cost.unpriced_models.join(", ")}, whose price is not known` : undefined}
    >
      {unknown && cost.usd_micros === 0 ? "no price" : usd(cost.usd_micros)}
      {unknown && cost.usd_micros > 0 && "+"}
    </span>
  );
}
