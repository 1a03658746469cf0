/**
 * Animates cards to their new place with the FLIP technique: positions are measured before the layout changes
 * and the difference is animated afterwards. Only visible cards are measured. A held card stays under the
 * pointer by scrolling its lane.
 */

const MOVE_MS = 220;
/**
 * The asks of a card that just moved ignore clicks for this long: the click was meant for the card that was
 * there before.
 */
const UNREAD_MS = 400;
const EASE = "cubic-bezier(.2, .7, .2, 1)";

const reduced = matchMedia("(prefers-reduced-motion: reduce)");

let before: Map<string, DOMRect> | null = null;
let heldBefore: { id: string; top: number } | null = null;

/** The held card and its last known position in the lane. */
let anchored: { id: string; card: HTMLElement; lane: HTMLElement; top: number } | null = null;

const cards = () => document.querySelectorAll<HTMLElement>("[data-card]");

const onScreen = (r: DOMRect) => r.bottom > 0 && r.top < innerHeight && r.width > 0;

export function beforeMove(held: string | null): void {
  if (before) return;
  const measured = new Map<string, DOMRect>();
  before = measured;
  heldBefore = null;
  // If the change draws nothing, afterMove is never called. Then the measurements must not be used for the
  // next move.
  requestAnimationFrame(() =>
    setTimeout(() => {
      if (before === measured) before = null;
    }),
  );
  for (const card of cards()) {
    const id = card.dataset.card;
    const rect = card.getBoundingClientRect();
    if (id && onScreen(rect)) measured.set(id, rect);
    if (id && id === held) heldBefore = { id, top: rect.top };
  }
}

/** Call after the new layout is in the DOM and before it is painted. */
export function afterMove(): void {
  const old = before;
  before = null;
  if (old) keepHeld();
  if (anchored) anchor(anchored.id);
  if (!old) return;
  // Measure all cards before the first animation starts: measuring in between would force a layout per card.
  for (const [card, rect] of Array.from(cards(), (card) => [card, card.getBoundingClientRect()] as const)) {
    if (!onScreen(rect)) continue;
    const from = old.get(card.dataset.card ?? "");
    const [dx, dy] = from ? [from.left - rect.left, from.top - rect.top] : [0, 0];
    const moved = from ? Math.abs(dx) >= 1 || Math.abs(dy) >= 1 : old.size > 0;
    if (!moved) continue;
    markMoved(card);
    if (from && !reduced.matches) glide(card, dx, dy);
    // With reduced motion a card that only made room for another one does not flicker.
    else if (!from || Math.abs(dx) >= 1) appear(card);
  }
}

function markMoved(card: HTMLElement): void {
  const mark = String(performance.now());
  card.dataset.moved = mark;
  setTimeout(() => {
    if (card.dataset.moved === mark) delete card.dataset.moved;
  }, UNREAD_MS);
}

// Animates only the transform, which needs no layout.
const glide = (card: HTMLElement, dx: number, dy: number) =>
  card.animate([{ transform: `translate(${dx}px, ${dy}px)` }, { transform: "none" }], {
    duration: MOVE_MS,
    easing: EASE,
  });

const appear = (card: HTMLElement) =>
  card.animate([{ opacity: 0.2 }, { opacity: 1 }], { duration: MOVE_MS, easing: EASE });

/** Scrolls the held card back to where it was before the move. */
function keepHeld(): void {
  if (!heldBefore) return;
  const { card, lane } = find(heldBefore.id);
  if (card && lane) scrollLane(lane, card.getBoundingClientRect().top - heldBefore.top);
}

function find(id: string) {
  const card = document.querySelector<HTMLElement>(`[data-card="${CSS.escape(id)}"]`);
  return { card, lane: card?.closest<HTMLElement>("[data-lane]") };
}

/** Scrolls the lane by `drift`. At the top or the end of the lane it adds empty space instead. */
function scrollLane(lane: HTMLElement, drift: number): void {
  if (Math.abs(drift) < 1) return;
  const wanted = lane.scrollTop + drift;
  lane.scrollTop = wanted;
  const rest = wanted - lane.scrollTop;
  if (rest < -1) lane.style.setProperty("--held-space", `${space(lane, "--held-space") - rest}px`);
  if (rest > 1) {
    // Add the most that could be needed, scroll, then remove what was not used.
    const most = space(lane, "--held-room") + lane.clientHeight + rest;
    lane.style.setProperty("--held-room", `${most}px`);
    lane.scrollTop = wanted;
    lane.style.setProperty(
      "--held-room",
      `${most - (lane.scrollHeight - lane.clientHeight - lane.scrollTop)}px`,
    );
  }
}

const space = (lane: HTMLElement, name: string) => Number.parseFloat(lane.style.getPropertyValue(name)) || 0;

// A card that grows does not change the order, so afterMove is not called for the cards below it.
const growing = new ResizeObserver(() => {
  if (!anchored?.card.isConnected) return;
  const { card, lane, top } = anchored;
  scrollLane(lane, card.offsetTop - top);
  anchored.top = card.offsetTop;
});

/** Keeps this card in place while cards above it grow or shrink. Null ends it. */
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

/**
 * Called when the person left the held card: removes the empty space, and keeps the card in place that they
 * went to next.
 */
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
