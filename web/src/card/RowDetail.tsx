import { useComputed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { unfolded } from "../lib/selection";

/**
 * The card of a row. Unfolded it lies over its neighbours, so that no row moves, and it stays inside the visible part
 * of its lane. Folded it is hidden, but its asks keep their keys.
 */
export function RowDetail({ id, children }: { id: string; children: ComponentChildren }) {
  const detail = useRef<HTMLDivElement>(null);
  const open = useComputed(() => unfolded.value === id).value;
  useLayoutEffect(() => {
    const element = detail.current;
    if (!open || !element) return;
    const keep = () => keepInLane(element);
    keep();
    const observer = new ResizeObserver(keep);
    observer.observe(element);
    return () => observer.disconnect();
  }, [open]);
  return (
    <div class="row-detail" data-unfolded={open ? "" : undefined} ref={detail}>
      {children}
    </div>
  );
}

const EDGE_PX = 4;

/** Moves it up as far as its end needs. Its height is a number of whole rows, so that it cuts none in half. */
function keepInLane(detail: HTMLElement): void {
  const lane = detail.closest("[data-lane]")?.getBoundingClientRect();
  const row = detail.parentElement?.getBoundingClientRect();
  if (!lane || !row) return;
  detail.style.maxHeight = `${lane.height - 2 * EDGE_PX}px`;
  detail.style.minHeight = "";
  detail.style.minHeight = `${Math.ceil(detail.offsetHeight / row.height) * row.height}px`;
  const below = lane.bottom - EDGE_PX - row.top - detail.offsetHeight;
  const above = lane.top + EDGE_PX - row.top;
  detail.style.top = `${Math.max(above, Math.min(0, below))}px`;
}
