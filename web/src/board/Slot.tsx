//! A card's place. With a large fleet only cards near the view are drawn; the others are empty boxes of their height.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

/** Up to this many cards are all in the DOM. */
export const ALL_DRAWN_MAX = 200;
const NEAR_PX = 900;
const GUESS_PX = 120;

const heights = new Map<string, number>();
const seen = new WeakMap<Element, (near: boolean) => void>();
const observer = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) seen.get(entry.target)?.(entry.isIntersecting);
  },
  { rootMargin: `${NEAR_PX}px 0px` },
);

export function Slot({ id, sparse, children }: { id: string; sparse: boolean; children: () => ComponentChildren }) {
  if (!sparse) return <>{children()}</>;
  return <SparseSlot id={id}>{children}</SparseSlot>;
}

function SparseSlot({ id, children }: { id: string; children: () => ComponentChildren }) {
  const near = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    seen.set(element, (isNear) => {
      near.value = isNear;
    });
    observer.observe(element);
    return () => observer.unobserve(element);
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    if (near.value) {
      element.style.removeProperty("height");
      return () => void heights.set(id, element.offsetHeight);
    }
    element.style.height = `${heights.get(id) ?? GUESS_PX}px`;
    return undefined;
  }, [near.value]);
  return <div class="slot" data-slot={id} ref={box}>{near.value && children()}</div>;
}
