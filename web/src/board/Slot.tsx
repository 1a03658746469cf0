//! A card's place. With a large fleet only cards near the view are drawn; the others are empty boxes of their height.
import { useSignal } from "@preact/signals";
import { Component } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Card } from "../card/Card";
import { DoneRow } from "../card/DoneRow";

const NEAR_PX = 400;
const GUESS_PX = 120;

type SlotProps = { id: string; row: boolean; inProject: boolean; sparse: boolean };

/** A new order moves slots; it does not redraw them. */
export class Slot extends Component<SlotProps> {
  override shouldComponentUpdate(next: SlotProps): boolean {
    const { id, row, inProject, sparse } = this.props;
    return next.id !== id || next.row !== row || next.inProject !== inProject || next.sparse !== sparse;
  }

  override render({ sparse, ...item }: SlotProps) {
    return sparse ? <SparseSlot {...item} /> : <Item {...item} />;
  }
}

type ItemProps = Omit<SlotProps, "sparse">;

const Item = ({ id, row, inProject }: ItemProps) => (row ? <DoneRow id={id} inProject={inProject} /> : <Card id={id} inProject={inProject} />);

const heights = new Map<string, number>();
const seen = new WeakMap<Element, (near: boolean, height: number) => void>();
const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting, boundingClientRect } of entries) seen.get(target)?.(isIntersecting, boundingClientRect.height);
  },
  // The lanes clip their cards, so it is their edge that must be widened, not the window's.
  { scrollMargin: `${NEAR_PX}px 0px`, delay: 100 } as IntersectionObserverInit,
);

function SparseSlot(item: ItemProps) {
  const { id } = item;
  const near = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    if (near.value) element.style.removeProperty("height");
    else element.style.height = `${heights.get(id) ?? GUESS_PX}px`;
  }, [near.value]);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    seen.set(element, (isNear, height) => {
      // The observer measured it already; to ask the element would lay out the page once per card.
      if (near.peek() && !isNear) heights.set(id, height);
      near.value = isNear;
    });
    observer.observe(element);
    return () => {
      observer.unobserve(element);
      heights.delete(id);
    };
  }, []);
  return <div class="slot" data-slot={id} ref={box}>{near.value && <Item {...item} />}</div>;
}
