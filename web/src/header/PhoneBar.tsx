//! Phone width: one column at a time, thumbs at the bottom.
import { phoneColumn, type ColumnName } from "../board/Board";
import { nextNeed } from "../keys/cursor";
import { fleet } from "../live/fleet";
import { goTo, view, viewHref } from "../lib/route";
import { Icon } from "../ui/Icon";
import { overlay } from "../overlay/overlay";

export function PhoneTabs() {
  const { needsYou, running, done } = fleet.value;
  const tabs: [ColumnName, string, number][] = [["needs", "Needs You", needsYou], ["running", "Running", running], ["done", "Done", done]];
  return (
    <nav class="p-tabs" aria-label="Columns">
      {tabs.map(([name, text, n]) => (
        <button key={name} type="button" aria-pressed={phoneColumn.value === name} onClick={() => { phoneColumn.value = name; }}>
          {text} <span class={name === "needs" && n > 0 ? "count attn" : "count"}>{n}</span>
        </button>
      ))}
    </nav>
  );
}

export function PhoneNav() {
  const next = () => {
    goTo("board");
    phoneColumn.value = "needs";
    requestAnimationFrame(() => nextNeed());
  };
  return (
    <nav class="p-nav" aria-label="Views and actions">
      <a href={viewHref("board")} aria-current={view.value === "board" ? "page" : undefined}><Icon name="group" />Board</a>
      <a href={viewHref("overview")} aria-current={view.value === "overview" ? "page" : undefined}><Icon name="strip" />Overview</a>
      <button type="button" onClick={() => { overlay.value = "palette"; }}><Icon name="search" />Search</button>
      <button type="button" onClick={next}><Icon name="right" />Next</button>
    </nav>
  );
}
