//! Cards glide to their new place (FLIP): measured before the layout changes, played after it was drawn.
//! Only what is on screen is measured. The held card is put back under the pointer by scrolling.

const MOVE_MS = 220;
const EASE = "cubic-bezier(.2, .7, .2, 1)";

const reduced = matchMedia("(prefers-reduced-motion: reduce)");

let before: Map<string, DOMRect> | null = null;
let heldBefore: { id: string; top: number } | null = null;

const cards = () => document.querySelectorAll<HTMLElement>("[data-card]");

const onScreen = (r: DOMRect) => r.bottom > 0 && r.top < innerHeight && r.width > 0;

export function beforeMove(held: string | null): void {
  if (before) return;
  const measured = new Map<string, DOMRect>();
  before = measured;
  heldBefore = null;
  // A change that moves nothing draws nothing, and nobody calls afterMove: what was measured must not stay for the next.
  requestAnimationFrame(() => setTimeout(() => { if (before === measured) before = null; }));
  for (const card of cards()) {
    const id = card.dataset.card;
    const rect = card.getBoundingClientRect();
    if (id && onScreen(rect)) measured.set(id, rect);
    if (id && id === held) heldBefore = { id, top: rect.top };
  }
}

/** Call when the new layout is in the DOM and not yet painted. */
export function afterMove(): void {
  const old = before;
  before = null;
  if (!old) return;
  keepHeld();
  for (const card of cards()) {
    const rect = card.getBoundingClientRect();
    if (!onScreen(rect)) continue;
    const from = old.get(card.dataset.card ?? "");
    if (from) glide(card, from.left - rect.left, from.top - rect.top);
    else if (old.size > 0) appear(card);
  }
}

function glide(card: HTMLElement, dx: number, dy: number): void {
  if (Math.abs(dx) < 1 && Math.abs(dy) < 1) return;
  if (reduced.matches) {
    appear(card);
    return;
  }
  // Only the transform: anything else would be laid out again in every frame.
  card.animate([{ transform: `translate(${dx}px, ${dy}px)` }, { transform: "none" }], { duration: MOVE_MS, easing: EASE });
}

const appear = (card: HTMLElement) => card.animate([{ opacity: 0.2 }, { opacity: 1 }], { duration: MOVE_MS, easing: EASE });

/** Scrolls its lane so that the held card stays under the pointer; what scrolling cannot give, a spacer does. */
function keepHeld(): void {
  if (!heldBefore) return;
  const card = document.querySelector<HTMLElement>(`[data-card="${CSS.escape(heldBefore.id)}"]`);
  const lane = card?.closest<HTMLElement>("[data-lane]");
  if (!card || !lane) return;
  const drift = card.getBoundingClientRect().top - heldBefore.top;
  if (Math.abs(drift) < 1) return;
  lane.scrollTop += drift;
  const rest = card.getBoundingClientRect().top - heldBefore.top;
  if (rest < -1) {
    const spacer = Number.parseFloat(lane.style.getPropertyValue("--held-space")) || 0;
    lane.style.setProperty("--held-space", `${spacer - rest}px`);
  }
}

/** The person left the card: the spacer goes and everything may move again. */
export function releaseHeld(): void {
  for (const lane of document.querySelectorAll<HTMLElement>("[data-lane]")) {
    if (!lane.style.getPropertyValue("--held-space")) continue;
    beforeMove(null);
    lane.style.removeProperty("--held-space");
    afterMove();
  }
}
