//! A dialog of the platform: it keeps the focus inside, closes on Escape and gives the focus back.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";

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

/** Name and way out, for those without a keyboard. */
export function ModalHead({ title, onClose }: { title: string; onClose: () => void }) {
  return <header class="modal-head"><h2>{title}</h2><Button kind="ghost" square label="Close" onClick={onClose}><Icon name="x" /></Button></header>;
}
