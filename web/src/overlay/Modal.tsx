/** A modal `<dialog>`: it traps the focus, closes on Escape and returns the focus. */
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
      // Closing the dialog before it is removed returns the focus, but Chromium loses the caret, so it is
      // restored here.
      shown?.close();
      if (caret !== null && document.activeElement === field) field?.setSelectionRange(caret, caret);
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click on the backdrop closes it; the key for that is Escape (onCancel).
    <dialog
      ref={dialog}
      class={cls}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      {children}
    </dialog>
  );
}

/** Title and close button. */
export function ModalHead({ title, onClose }: { title: string; onClose: () => void }) {
  return (
    <header class="modal-head">
      <h2>{title}</h2>
      <Button kind="ghost" square label="Close" onClick={onClose}>
        <Icon name="x" />
      </Button>
    </header>
  );
}
