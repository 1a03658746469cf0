/** What the sessions of an effort cost together. */
import type { EffortCost as Cost } from "../generated/EffortCost";
import { usd } from "../lib/format";

export function EffortCost({ cost }: { cost: Cost | null }) {
  if (!cost) return <span class="cost" />;
  const unknown = cost.unpriced_models.length > 0;
  const title = unknown
    ? `Without ${cost.unpriced_models.join(", ")}, whose price is not known`
    : "Cost of all its sessions";
  return (
    <span class="cost" title={title}>
      {unknown && cost.usd_micros === 0 ? "no price" : usd(cost.usd_micros)}
      {unknown && cost.usd_micros > 0 && "+"}
    </span>
  );
}
