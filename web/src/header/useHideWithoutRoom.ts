/** A line that leaves out what has no room, so that nothing in it is cut. */
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

/** Hides the children that would wrap to a second line: the last ones first. The line needs `flex-wrap: wrap`. */
export function useHideWithoutRoom(line: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const element = line.current;
    if (!element) return;
    const sizes = new ResizeObserver(() => hideWrapped(element));
    const watchAll = () => {
      sizes.disconnect();
      for (const part of [element, ...element.children]) sizes.observe(part);
    };
    const parts = new MutationObserver(watchAll);
    watchAll();
    parts.observe(element, { childList: true });
    return () => {
      sizes.disconnect();
      parts.disconnect();
    };
  }, []);
}

function hideWrapped(line: HTMLElement): void {
  const parts = Array.from(line.children, (part) => part as HTMLElement);
  for (const part of parts) part.hidden = false;
  const top = parts[0]?.offsetTop ?? 0;
  // All are measured before the first is hidden: hiding one may bring the next back to the first line.
  const wrapped = parts.filter((part) => part.offsetTop > top);
  for (const part of wrapped) part.hidden = true;
}
