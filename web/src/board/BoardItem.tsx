/**
 * One item of a lane: a card, or a row in Done. In a large fleet only items near the visible area are drawn;
 * the others are empty boxes of the same height.
 */
import { useSignal } from "@preact/signals";
import { Component } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { BunchCard } from "../card/BunchCard";
import { Card } from "../card/Card";
import { DoneRow } from "../card/DoneRow";
import { RunningRow } from "../card/RunningRow";

const NEAR_PX = 400;
const GUESS_PX = 120;

/** How a session is drawn. A bunch stands for several sessions; a row is one line and unfolds to a card. */
export type ItemLook = "card" | "bunch" | "row" | "bunch-row" | "running-row" | "done";

type BoardItemProps = { id: string; look: ItemLook; inProject: boolean; virtualized: boolean };

/** Moving an item to another place does not redraw it. */
export class BoardItem extends Component<BoardItemProps> {
  override shouldComponentUpdate(next: BoardItemProps): boolean {
    const { id, look, inProject, virtualized } = this.props;
    return (
      next.id !== id || next.look !== look || next.inProject !== inProject || next.virtualized !== virtualized
    );
  }

  override render({ virtualized, ...item }: BoardItemProps) {
    return virtualized ? <VirtualItem {...item} /> : <Item {...item} />;
  }
}

type ItemProps = Omit<BoardItemProps, "virtualized">;

function Item({ id, look, inProject }: ItemProps) {
  if (look === "done") return <DoneRow id={id} inProject={inProject} />;
  if (look === "running-row") return <RunningRow id={id} inProject={inProject} />;
  if (look === "bunch" || look === "bunch-row")
    return <BunchCard id={id} inProject={inProject} row={look === "bunch-row"} />;
  return <Card id={id} inProject={inProject} row={look === "row"} />;
}

const heights = new Map<string, number>();
const seen = new WeakMap<Element, (near: boolean, height: number) => void>();
const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting, boundingClientRect } of entries)
      seen.get(target)?.(isIntersecting, boundingClientRect.height);
  },
  // The lanes clip their cards, so the margin must widen the lane's edge and not the window's.
  { scrollMargin: `${NEAR_PX}px 0px`, delay: 100 } as IntersectionObserverInit,
);

function VirtualItem(item: ItemProps) {
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
      // The observer has measured the height already; measuring the element would force a layout per card.
      if (near.peek() && !isNear) heights.set(id, height);
      near.value = isNear;
    });
    observer.observe(element);
    return () => {
      observer.unobserve(element);
      heights.delete(id);
    };
  }, []);
  return (
    <div class="slot" data-slot={id} ref={box}>
      {near.value && <Item {...item} />}
    </div>
  );
}
