//! A dialog of the platform: it keeps the focus inside, closes on Escape and gives the focus back.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

type ModalProps = { label: string; class: string; onClose: () => void; children: ComponentChildren };

export function Modal({ label, class: cls, onClose, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const shown = dialog.current;
    const before = document.activeElement;
    const field = before instanceof HTMLTextAreaElement || before instanceof HTMLInputElement ? before : null;
    const caret = field?.selectionEnd ?? null;
    shown?.showModal();
    return () => {
      // Closing before it leaves the page gives the focus back to where it was, but not the caret: Chromium would type nowhere.
      shown?.close();
      if (caret !== null && document.activeElement === field) field?.setSelectionRange(caret, caret);
    };
  }, []);
  return (
    <dialog
      ref={dialog} class={cls} aria-label={label}
      onCancel={(event) => { event.preventDefault(); onClose(); }}
      onClick={(event) => { if (event.target === dialog.current) onClose(); }}
    >
      {children}
    </dialog>
  );
}
