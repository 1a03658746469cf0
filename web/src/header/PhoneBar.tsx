/** The tabs and the bottom bar at phone width. */
import { type ColumnName, phoneColumn } from "../board/Board";
import { countText, type ShownCount, shownCounts } from "../board/shownCounts";
import { nextNeed } from "../keys/cursor";
import { whyNoneIsNext } from "../keys/goToNeed";
import { goTo, view, viewHref } from "../lib/route";
import { hasHosts } from "../live/hosts";
import { overlay } from "../overlay/overlay";
import { Icon } from "../ui/Icon";
import { capitalize, showToast } from "../ui/toast";

export function PhoneTabs() {
  const { needs, running, done } = shownCounts.value;
  const tabs: [ColumnName, string, ShownCount][] = [
    ["needs", "Needs You", needs],
    ["running", "Running", running],
    ["done", "Done", done],
  ];
  return (
    <nav class="p-tabs" aria-label="Columns">
      {tabs.map(([name, text, n]) => (
        <button
          key={name}
          type="button"
          aria-pressed={phoneColumn.value === name}
          onClick={() => {
            phoneColumn.value = name;
          }}
        >
          {text}
          <Count class={name === "needs" && n.shown > 0 ? "count attn" : "count"} count={n} />
        </button>
      ))}
    </nav>
  );
}

/** The line below the tabs says that there is a filter; here the numbers must fit beside three names. */
const Count = ({ class: cls, count }: { class: string; count: ShownCount }) => (
  <span class={cls}>
    {count.shown}
    <span class="sr">{countText(count).slice(String(count.shown).length)}</span>
  </span>
);

export function PhoneNav() {
  const next = () => {
    goTo("board");
    phoneColumn.value = "needs";
    requestAnimationFrame(() => {
      if (nextNeed() === null) showToast(capitalize(whyNoneIsNext()));
    });
  };
  return (
    <nav class="p-nav" aria-label="Views and actions">
      <a href={viewHref("board")} aria-current={view.value === "board" ? "page" : undefined}>
        <Icon name="group" />
        Board
      </a>
      <a href={viewHref("overview")} aria-current={view.value === "overview" ? "page" : undefined}>
        <Icon name="strip" />
        Overview
      </a>
      <a href={viewHref("log")} aria-current={view.value === "log" ? "page" : undefined}>
        <Icon name="log" />
        Log
      </a>
      <a href={viewHref("efforts")} aria-current={view.value === "efforts" ? "page" : undefined}>
        <Icon name="phase" />
        Efforts
      </a>
      {hasHosts.value && (
        <a href={viewHref("hosts")} aria-current={view.value === "hosts" ? "page" : undefined}>
          <Icon name="server" />
          Hosts
        </a>
      )}
      <button
        type="button"
        onClick={() => {
          overlay.value = "palette";
        }}
      >
        <Icon name="search" />
        Search
      </button>
      <button type="button" onClick={next}>
        <Icon name="right" />
        Next
      </button>
    </nav>
  );
}
