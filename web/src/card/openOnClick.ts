/** Opens a session by a click anywhere on its card that is not a control. */
import { openSession } from "../lib/route";

const CONTROLS = "button, a, input, textarea, select, label, summary, .ask, .kept-text";
const isControl = (target: EventTarget | null) =>
  target instanceof Element && target.closest(CONTROLS) !== null;

/** The person marked text to copy it. */
const isSelecting = () => (getSelection()?.toString() ?? "") !== "";

/**
 * Closing the drawer returns the focus to where it was. It must be the card, not its title, because keys act
 * on a card.
 */
function focusCardInsteadOfTitle({ target, currentTarget }: Event): void {
  const title = target instanceof Element && target.closest("h3 a");
  if (title && currentTarget instanceof HTMLElement) currentTarget.focus({ preventScroll: true });
}

export const openOnClick = (id: string) => ({
  onClick: (event: MouseEvent) => {
    focusCardInsteadOfTitle(event);
    // A card that just moved was not the one the person meant.
    const moved = event.currentTarget instanceof HTMLElement && "moved" in event.currentTarget.dataset;
    if (!isControl(event.target) && !isSelecting() && !moved) openSession(id);
  },
});
