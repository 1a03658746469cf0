/** The context windows of an effort as small segments with their fill, joined by handoffs. */
import { Fragment } from "preact";
import type { Effort } from "../generated/Effort";
import type { WindowCard } from "../generated/WindowCard";
import { Icon } from "../ui/Icon";
import { fill } from "../ui/Meters";
import { contextOf, mainWindows } from "./current";

/** Segments of a row; the details show all. */
const SEGMENTS_MAX = 5;

export function WindowSegments({ effort }: { effort: Effort }) {
  const windows = mainWindows(effort);
  const shown = windows.slice(-SEGMENTS_MAX);
  const earlier = effort.windows_dropped + windows.length - shown.length;
  return (
    <span class="segments" role="img" aria-label={windowsText(effort)}>
      {earlier > 0 && <span class="dim">{earlier} before</span>}
      {shown.map((window, i) => (
        <Fragment key={window.id}>
          {i > 0 && <Join before={shown[i - 1]} />}
          <Segment window={window} />
        </Fragment>
      ))}
      {windows.length === 0 && <span class="dim">no window yet</span>}
    </span>
  );
}

const windowsText = (effort: Effort): string =>
  mainWindows(effort)
    .map((window) => `Window ${window.number}, context ${contextText(window)}`)
    .join("; ") || "No context window yet";

export const contextText = (window: WindowCard): string => {
  const percent = contextOf(window);
  return percent === null ? "not known" : `${percent}%`;
};

function Segment({ window }: { window: WindowCard }) {
  const percent = contextOf(window);
  return (
    <span
      class={window.ended_at === null ? "segment is-open" : "segment"}
      style={fill(percent ?? 0)}
      title={`Window ${window.number}, context ${contextText(window)}`}
    >
      {percent === null ? "–" : `${percent}%`}
    </span>
  );
}

/** A handoff is an arrow, a window that began without one a dot. */
const Join = ({ before }: { before: WindowCard | undefined }) =>
  before?.handed_over ? <Icon name="right" /> : <i class="no-handoff" />;
