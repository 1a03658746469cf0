/** One short message at the bottom of the page: a result or an error. */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { errorText } from "../lib/errorText";

type Toast = { text: string; bad: boolean };
const current = signal<Toast | null>(null);
const SHOW_MS = 5_000;
let timer: ReturnType<typeof setTimeout> | undefined;

export function showToast(text: string, bad = false): void {
  current.value = { text, bad };
  clearTimeout(timer);
  timer = setTimeout(() => {
    current.value = null;
  }, SHOW_MS);
}

export const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
export const showError = (error: unknown) => showToast(capitalize(errorText(error)), true);

export function Toasts() {
  const toast = current.value;
  const element = useRef<HTMLDivElement>(null);
  // Showing the popover again puts it above a dialog that was opened before; nothing else does.
  useLayoutEffect(() => {
    if (!toast) return;
    const shown = element.current;
    shown?.showPopover();
    return () => shown?.hidePopover();
  }, [toast]);
  return (
    <div ref={element} popover="manual" class={toast?.bad ? "toast bad" : "toast"} role="status">
      {toast?.text}
    </div>
  );
}
