//! Cards glide to their new place (FLIP): measured before the layout changes, played after it was drawn.
//! Only what is on screen is measured. The held card is put back under the pointer by scrolling.

const MOVE_MS = 220;
/** Nobody reads what came under their pointer in less: until then its asks take no click. */
const UNREAD_MS = 400;
const EASE = "cubic-bezier(.2, .7, .2, 1)";

const reduced = matchMedia("(prefers-reduced-motion: reduce)");

let before: Map<string, DOMRect> | null = null;
let heldBefore: { id: string; top: number } | null = null;

/** The held card, and where it stood in its lane when it was last looked at. */
let anchored: { id: string; card: HTMLElement; lane: HTMLElement; top: number } | null = null;

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
  if (old) keepHeld();
  if (anchored) anchor(anchored.id);
  if (!old) return;
  // All are measured before the first is touched: to measure after would lay out the page once per card.
  for (const [card, rect] of Array.from(cards(), (card) => [card, card.getBoundingClientRect()] as const)) {
    if (!onScreen(rect)) continue;
    const from = old.get(card.dataset.card ?? "");
    const [dx, dy] = from ? [from.left - rect.left, from.top - rect.top] : [0, 0];
    const moved = from ? Math.abs(dx) >= 1 || Math.abs(dy) >= 1 : old.size > 0;
    if (!moved) continue;
    markMoved(card);
    if (from && !reduced.matches) glide(card, dx, dy);
    else appear(card);
  }
}

function markMoved(card: HTMLElement): void {
  const mark = String(performance.now());
  card.dataset.moved = mark;
  setTimeout(() => { if (card.dataset.moved === mark) delete card.dataset.moved; }, UNREAD_MS);
}

// Only the transform: anything else would be laid out again in every frame.
const glide = (card: HTMLElement, dx: number, dy: number) =>
  card.animate([{ transform: `translate(${dx}px, ${dy}px)` }, { transform: "none" }], { duration: MOVE_MS, easing: EASE });

const appear = (card: HTMLElement) => card.animate([{ opacity: 0.2 }, { opacity: 1 }], { duration: MOVE_MS, easing: EASE });

/** Puts the held card back where it was before the move. */
function keepHeld(): void {
  if (!heldBefore) return;
  const { card, lane } = find(heldBefore.id);
  if (card && lane) scrollLane(lane, card.getBoundingClientRect().top - heldBefore.top);
}

function find(id: string) {
  const card = document.querySelector<HTMLElement>(`[data-card="${CSS.escape(id)}"]`);
  return { card, lane: card?.closest<HTMLElement>("[data-lane]") };
}

/** What scrolling cannot give, empty space does: above where the lane is at its top, below where it is at its end. */
function scrollLane(lane: HTMLElement, drift: number): void {
  if (Math.abs(drift) < 1) return;
  const wanted = lane.scrollTop + drift;
  lane.scrollTop = wanted;
  const rest = wanted - lane.scrollTop;
  if (rest < -1) lane.style.setProperty("--held-space", `${space(lane, "--held-space") - rest}px`);
  if (rest > 1) {
    // As much as could be needed, to see how much was.
    const most = space(lane, "--held-room") + lane.clientHeight + rest;
    lane.style.setProperty("--held-room", `${most}px`);
    lane.scrollTop = wanted;
    lane.style.setProperty("--held-room", `${most - (lane.scrollHeight - lane.clientHeight - lane.scrollTop)}px`);
  }
}

const space = (lane: HTMLElement, name: string) => Number.parseFloat(lane.style.getPropertyValue(name)) || 0;

// A card that grows changes no order, so nobody calls afterMove for those below it.
const growing = new ResizeObserver(() => {
  if (!anchored?.card.isConnected) return;
  const { card, lane, top } = anchored;
  scrollLane(lane, card.offsetTop - top);
  anchored.top = card.offsetTop;
});

/** This card stays where it is while those above it grow and shrink; null lets go. */
export function anchor(id: string | null): void {
  growing.disconnect();
  anchored = null;
  if (id === null) return;
  const { card, lane } = find(id);
  if (!card || !lane) return;
  anchored = { id, card, lane, top: card.offsetTop };
  for (const child of lane.children) {
    if (child.contains(card)) return;
    growing.observe(child);
  }
}

/** The person left the card: the empty space goes and everything may move again, but not the card they went on to. */
export function releaseHeld(next: string | null): void {
  anchor(null);
  for (const lane of document.querySelectorAll<HTMLElement>("[data-lane]")) {
    if (!space(lane, "--held-space") && !space(lane, "--held-room")) continue;
    beforeMove(next);
    lane.style.removeProperty("--held-space");
    lane.style.removeProperty("--held-room");
    afterMove();
  }
}
