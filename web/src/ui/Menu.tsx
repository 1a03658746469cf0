/**
 * A button with a menu in the top layer, so that no scrolling lane clips it. Escape, a click elsewhere or the
 * button closes it. At phone width it is a sheet at the bottom.
 */
import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

type MenuProps = {
  button: (open: boolean, toggle: () => void) => ComponentChildren;
  children: (close: () => void) => ComponentChildren;
  label: string;
  align?: "start" | "end";
  class?: string;
};

/** Whether any menu is open: keys then belong to it. */
export const menuIsOpen = signal(false);

const GAP_PX = 4;
const phone = matchMedia("(max-width: 780px)");

export function Menu({ button, children, label, align = "start", class: cls = "" }: MenuProps) {
  const open = useSignal(false);
  const root = useRef<HTMLSpanElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const close = () => {
    open.value = false;
  };
  /** The chosen item is removed with the focus on it: the focus goes back to the button, unless the choice moved it. */
  const closeAfterChoice = () => {
    close();
    requestAnimationFrame(() => {
      if (document.activeElement === document.body)
        root.current?.querySelector("button")?.focus({ preventScroll: true });
    });
  };
  /** Tab leads out of the menu, and keys then belong to what has the focus. */
  const onFocusOut = ({ relatedTarget }: FocusEvent) => {
    if (relatedTarget instanceof Node && !root.current?.contains(relatedTarget)) close();
  };
  useLayoutEffect(() => {
    if (!open.value || !root.current || !list.current) return;
    list.current.showPopover();
    menuIsOpen.value = true;
    place(list.current, root.current.getBoundingClientRect(), align);
    list.current.querySelector<HTMLElement>("button")?.focus();
    const outside = (event: Event) => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) close();
    };
    addEventListener("pointerdown", outside);
    addEventListener("resize", close);
    return () => {
      menuIsOpen.value = false;
      removeEventListener("pointerdown", outside);
      removeEventListener("resize", close);
    };
  }, [open.value]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!open.value) return;
    // While the menu is open, keys belong to it.
    event.stopPropagation();
    if (event.key === "Escape") {
      event.preventDefault();
      close();
      root.current?.querySelector("button")?.focus();
    }
    const by =
      event.key === "ArrowDown" || event.key === "j"
        ? 1
        : event.key === "ArrowUp" || event.key === "k"
          ? -1
          : 0;
    if (by) {
      event.preventDefault();
      step(list.current, by);
    }
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only listens to keys of the buttons inside it.
    <span class={`menu-root ${cls}`} ref={root} onKeyDown={onKeyDown} onFocusOut={onFocusOut}>
      {button(open.value, () => {
        open.value = !open.value;
      })}
      {open.value && (
        <div class="menu" popover="manual" ref={list} role="group" aria-label={label}>
          {children(closeAfterChoice)}
        </div>
      )}
    </span>
  );
}

/** Below its button, or above it if there is no room, and always inside the window. */
function place(list: HTMLElement, at: DOMRect, align: "start" | "end"): void {
  if (phone.matches) return;
  const left = align === "start" ? at.left : at.right - list.offsetWidth;
  const below = at.bottom + GAP_PX + list.offsetHeight <= innerHeight;
  list.style.left = `${Math.max(8, Math.min(left, innerWidth - list.offsetWidth - 8))}px`;
  list.style.top = `${below ? at.bottom + GAP_PX : Math.max(8, at.top - GAP_PX - list.offsetHeight)}px`;
}

function step(list: HTMLElement | null, by: number): void {
  const items = [...(list?.querySelectorAll<HTMLElement>("button") ?? [])];
  const at = items.indexOf(document.activeElement as HTMLElement);
  items[(at + by + items.length) % items.length]?.focus();
}

export function MenuItem(props: {
  children: ComponentChildren;
  chosen?: boolean;
  onClick: (event: MouseEvent) => void;
}) {
  return (
    <button type="button" class="menu-item" aria-pressed={props.chosen} onClick={props.onClick}>
      {props.children}
    </button>
  );
}
