//! What opens a card beside its title and Enter: a double click, or with a finger, which has no double click, a tap.
import { openSession } from "../lib/route";

const isControl = (target: EventTarget | null) => target instanceof Element && target.closest("button, a, input, textarea, select, label") !== null;

export const opens = (id: string) => {
  const open = (event: Event) => { if (!isControl(event.target)) openSession(id); };
  return { onDblClick: open, onClick: (event: Event) => { if (matchMedia("(pointer: coarse)").matches) open(event); } };
};
