/** Opens a session by a click anywhere on its card that is not a control. */
import { pickTo, togglePick } from "../keys/picks";
import { refuse } from "../keys/refusal";
import { openSession } from "../lib/route";

/** A press beside a button of an answer was meant for the button. */
const CONTROLS =
  "button, a, input, textarea, select, label, summary, .options, .message-box, .answer, .pending, .kept-text";
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

/** With shift all cards from the selected one, with Ctrl or Cmd this one. */
function pickByClick(id: string, event: MouseEvent): void {
  const why = event.shiftKey ? pickTo(id) : togglePick(id);
  if (why !== null) refuse("click", why, event.currentTarget as Element);
}

export const openOnClick = (id: string) => ({
  onMouseDown: (event: MouseEvent) => {
    // The selected card is the other end of the range, so the focus stays there, and no text is marked.
    if (event.shiftKey && !isControl(event.target)) event.preventDefault();
  },
  onClick: (event: MouseEvent) => {
    focusCardInsteadOfTitle(event);
    // A card that just moved was not the one the person meant.
    const moved = event.currentTarget instanceof HTMLElement && "moved" in event.currentTarget.dataset;
    if (isControl(event.target) || moved) return;
    if (event.shiftKey || event.ctrlKey || event.metaKey) pickByClick(id, event);
    else if (!isSelecting()) openSession(id);
  },
});
