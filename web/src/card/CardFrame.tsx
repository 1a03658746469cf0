/** The element of a session on the board, as a card or a row: it is selected, picked, opened and reached by Tab. */
import { useComputed } from "@preact/signals";
import type { ComponentChildren, Ref } from "preact";
import type { Session } from "../generated/Session";
import { cursor, selectCard, tabStops } from "../keys/cursor";
import { picks } from "../keys/picks";
import { TabStop } from "../ui/Button";
import { openOnClick } from "./openOnClick";
import { RowDetail } from "./RowDetail";

type CardFrameProps = {
  session: Session;
  class: string;
  /** For screen readers, if it is not one session that is shown. */
  label?: string;
  element?: Ref<HTMLElement>;
  /** The card as one line. Then the children are drawn over it while it is unfolded. */
  line?: ComponentChildren;
  children: ComponentChildren;
};

export function CardFrame({ session, class: cls, label, element, line, children }: CardFrameProps) {
  const { id, agent_state, project } = session;
  const current = useComputed(() => (cursor.value === id ? "true" : undefined));
  const tab = useComputed(() => (tabStops.value.has(id) ? 0 : -1));
  const picked = useComputed(() => (picks.value.includes(id) ? "" : undefined));
  return (
    <TabStop.Provider value={tab}>
      <article
        ref={element}
        class={line ? `${cls} row` : cls}
        data-card={id}
        data-state={agent_state.state}
        data-group={agent_state.group}
        data-picked={picked}
        tabIndex={tab}
        aria-current={current}
        aria-label={label ?? `${project.name}: ${agent_state.label}`}
        onFocusIn={() => selectCard(id, Boolean(line))}
        {...openOnClick(id)}
      >
        {line ? (
          <>
            {line}
            <RowDetail id={id}>{children}</RowDetail>
          </>
        ) : (
          children
        )}
      </article>
    </TabStop.Provider>
  );
}
