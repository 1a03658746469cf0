/** Opens a session by a double click on its card, or by a tap on a touch screen. */
import { openSession } from "../lib/route";

const isControl = (target: EventTarget | null) =>
  target instanceof Element && target.closest("button, a, input, textarea, select, label") !== null;

/**
 * Closing the drawer returns the focus to where it was. It must be the card, not its title, because Enter on
 * a card goes into its ask.
 */
function focusCardInsteadOfTitle({ target, currentTarget }: Event): void {
  const title = target instanceof Element && target.closest("h3 a");
  if (title && currentTarget instanceof HTMLElement) currentTarget.focus({ preventScroll: true });
}

export const openOnClick = (id: string) => {
  const open = (event: Event) => {
    if (!isControl(event.target)) openSession(id);
  };
  return {
    onDblClick: open,
    onClick: (event: Event) => {
      focusCardInsteadOfTitle(event);
      if (matchMedia("(pointer: coarse)").matches) open(event);
    },
  };
};
