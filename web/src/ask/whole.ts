//! The whole of a request. A card carries a large input cut; the log has it whole, as far as it keeps any payload.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Ask } from "../generated/Ask";
import { getAsk } from "../live/api";

/** Why a part is not shown. Until it is, nothing here allows it. */
export type Missing = { kind: "cut" } | { kind: "reading" } | { kind: "unread"; why: string; again: () => void };

export type Seen = { ask: Ask; missing: Missing | null };

/** As the daemon marks where it cut. A text that says so itself is taken for cut: then the terminal decides. */
export const CUT = /…\[(\d+ (bytes|more)|nested too deep:) clipped\]$/;

export function isCut(ask: Pick<Ask, "kind" | "tool_input">): boolean {
  if (ask.kind === "elicitation") return false;
  return ask.tool_input === null || hasCut(ask.tool_input);
}

function hasCut(value: unknown): boolean {
  if (typeof value === "string") return CUT.test(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, inner]) => CUT.test(name) || hasCut(inner));
}

/** An input that no cut could make small enough comes empty. */
const mayBeMore = (ask: Ask) => isCut(ask) || (ask.tool_input !== null && Object.keys(ask.tool_input).length === 0);

/** For a card as it came; in the drawer (`whole`) from the log where the card has not all of it. */
export function useWhole(ask: Ask, whole: boolean): Seen {
  const read = useSignal<Ask | string | null>(null);
  const tries = useSignal(0);
  const wanted = whole && ask.resolution === null && mayBeMore(ask);
  useEffect(() => {
    if (!wanted) return;
    let gone = false;
    const got = (said: Ask | string) => { if (!gone) read.value = said; };
    getAsk(ask.id).then(got, (error: unknown) => got(error instanceof Error ? error.message : String(error)));
    return () => { gone = true; };
  }, [ask.id, wanted, tries.value]);
  if (!wanted) return { ask, missing: isCut(ask) ? { kind: "cut" } : null };
  if (read.value === null) return { ask, missing: { kind: "reading" } };
  if (typeof read.value === "string") {
    const again = () => { read.value = null; tries.value++; };
    return { ask, missing: { kind: "unread", why: read.value, again } };
  }
  const { tool_input, questions } = read.value;
  const all = { ...ask, tool_input, questions };
  return { ask: all, missing: isCut(all) ? { kind: "cut" } : null };
}
