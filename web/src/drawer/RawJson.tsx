import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

type RawJsonProps = { label: string; text: () => string; children?: ComponentChildren };

/** What the log has, behind a button at the end of a line. */
export function RawJson({ label, text, children }: RawJsonProps) {
  const open = useSignal(false);
  return (
    <>
      <p class="dim">
        {children}
        <button
          type="button"
          class="btn ghost"
          aria-expanded={open.value}
          onClick={() => {
            open.value = !open.value;
          }}
        >
          {label}
        </button>
      </p>
      {open.value && (
        <pre class="raw" tabIndex={0}>
          {text()}
        </pre>
      )}
    </>
  );
}
