//! A button that opens a short list. Escape, a click elsewhere or the button closes it.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

type MenuProps = {
  button: (open: boolean, toggle: () => void) => ComponentChildren;
  children: (close: () => void) => ComponentChildren;
  label: string;
  align?: "start" | "end";
};

export function Menu({ button, children, label, align = "start" }: MenuProps) {
  const open = useSignal(false);
  const root = useRef<HTMLSpanElement>(null);
  const close = () => {
    open.value = false;
  };
  useEffect(() => {
    if (!open.value) return;
    root.current?.querySelector<HTMLElement>(".menu button, .menu input")?.focus();
    const outside = (event: Event) => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) close();
    };
    addEventListener("pointerdown", outside);
    return () => removeEventListener("pointerdown", outside);
  }, [open.value]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!open.value) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      close();
      root.current?.querySelector("button")?.focus();
    }
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      event.stopPropagation();
      step(root.current, event.key === "ArrowDown" ? 1 : -1);
    }
  };
  return (
    <span class="menu-root" ref={root} onKeyDown={onKeyDown}>
      {button(open.value, () => {
        open.value = !open.value;
      })}
      {open.value && <div class={`menu ${align}`} role="group" aria-label={label}>{children(close)}</div>}
    </span>
  );
}

function step(root: HTMLElement | null, by: number): void {
  const items = [...(root?.querySelectorAll<HTMLElement>(".menu button") ?? [])];
  const at = items.indexOf(document.activeElement as HTMLElement);
  items[(at + by + items.length) % items.length]?.focus();
}

export function MenuItem(props: { children: ComponentChildren; chosen?: boolean; onClick: () => void }) {
  return (
    <button type="button" class="menu-item" aria-pressed={props.chosen} onClick={props.onClick}>
      {props.children}
    </button>
  );
}
