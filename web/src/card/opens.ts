//! What opens a card beside its title and Enter: a double click, or with a finger, which has no double click, a tap.
import { openSession } from "../lib/route";

const isControl = (target: EventTarget | null) => target instanceof Element && target.closest("button, a, input, textarea, select, label") !== null;

/** The focus comes back from the session to where it was: to the card, whose Enter goes into its ask, not to the title. */
function leaveTitle({ target, currentTarget }: Event): void {
  const title = target instanceof Element && target.closest("h3 a");
  if (title && currentTarget instanceof HTMLElement) currentTarget.focus({ preventScroll: true });
}

export const opens = (id: string) => {
  const open = (event: Event) => { if (!isControl(event.target)) openSession(id); };
  return {
    onDblClick: open,
    onClick: (event: Event) => {
      leaveTitle(event);
      if (matchMedia("(pointer: coarse)").matches) open(event);
    },
  };
};
