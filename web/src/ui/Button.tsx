/** Buttons. Red is only used for the confirming press of an action that cannot be undone. */

import type { ReadonlySignal } from "@preact/signals";
import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import { isOffline } from "../live/stream";

/**
 * Only the buttons of the current card are tab stops, so Tab stops once per column; j and k move between
 * cards.
 */
export const TabStop = createContext<ReadonlySignal<number> | undefined>(undefined);

/** True around buttons that send something: they are disabled while there is no connection to the daemon. */
export const NeedsDaemon = createContext(false);

/** Whether a button here must be off now. */
export const useIsOff = (): boolean => useContext(NeedsDaemon) && isOffline.value;

type ButtonProps = {
  children: ComponentChildren;
  onClick: (event: MouseEvent) => void;
  kind?: "plain" | "primary" | "ghost" | "danger";
  square?: boolean;
  label?: string;
  title?: string;
  pressed?: boolean;
  disabled?: boolean;
  /** The button ignores presses for now. Unlike a disabled button it keeps the focus. */
  waiting?: boolean;
  class?: string;
  expanded?: boolean;
  keys?: string;
};

export function Button(props: ButtonProps) {
  const tab = useContext(TabStop);
  const off = useIsOff();
  const { kind = "plain", square, label, title, pressed, disabled, expanded } = props;
  const cls = ["btn", kind !== "plain" && kind, square && "square", props.class].filter(Boolean).join(" ");
  return (
    <button
      type="button"
      class={cls}
      onClick={props.onClick}
      aria-label={label}
      title={title ?? label}
      aria-pressed={pressed}
      aria-expanded={expanded}
      disabled={disabled || off}
      aria-disabled={props.waiting || undefined}
      tabIndex={tab}
      aria-keyshortcuts={props.keys}
    >
      {props.children}
    </button>
  );
}

type SegmentChoice<T extends string> = { value: T; label: ComponentChildren; title?: string };

export function Segmented<T extends string>(props: {
  name: string;
  value: T;
  choices: SegmentChoice<T>[];
  onChange: (value: T) => void;
  class?: string;
}) {
  return (
    <span class={`segmented ${props.class ?? ""}`} role="group" aria-label={props.name}>
      {props.choices.map(({ value, label, title }) => (
        <button
          key={value}
          type="button"
          title={title}
          aria-pressed={props.value === value}
          onClick={() => props.onChange(value)}
        >
          {label}
        </button>
      ))}
    </span>
  );
}
