/**
 * Loads the complete input of an ask. A card carries a large input truncated; the daemon's log has more of
 * it.
 */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Ask } from "../generated/Ask";
import { errorText } from "../lib/errorText";
import { getAsk } from "../live/api";

/** Why a part of the input is not shown. An ask with a missing part cannot be allowed on this page. */
export type MissingInput =
  | { kind: "cut" }
  | { kind: "reading" }
  | { kind: "unread"; why: string; again: () => void };

export type FullAsk = { ask: Ask; missing: MissingInput | null };

/**
 * The daemon's mark at the end of truncated text. Text that ends like this by itself counts as truncated too,
 * and is answered in the terminal.
 */
export const TRUNCATION_MARK = /…\[(\d+ (bytes|more)|nested too deep:) clipped\]$/;

export function isTruncated(ask: Pick<Ask, "kind" | "tool_input">): boolean {
  if (ask.kind === "elicitation") return false;
  return ask.tool_input === null || containsTruncation(ask.tool_input);
}

function containsTruncation(value: unknown): boolean {
  if (typeof value === "string") return TRUNCATION_MARK.test(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(
    ([name, inner]) => TRUNCATION_MARK.test(name) || containsTruncation(inner),
  );
}

/** An input that is too large even after truncation arrives empty. */
const mayBeTruncated = (ask: Ask) =>
  isTruncated(ask) || (ask.tool_input !== null && Object.keys(ask.tool_input).length === 0);

/** On a card, the ask as the stream sent it. In the drawer (`full`), a truncated one is read from the log. */
export function useFullAsk(ask: Ask, full: boolean): FullAsk {
  const read = useSignal<Ask | string | null>(null);
  const tries = useSignal(0);
  const wanted = full && ask.resolution === null && mayBeTruncated(ask);
  useEffect(() => {
    if (!wanted) return;
    let gone = false;
    const got = (said: Ask | string) => {
      if (!gone) read.value = said;
    };
    getAsk(ask.id).then(got, (error: unknown) => got(errorText(error)));
    return () => {
      gone = true;
    };
  }, [ask.id, wanted, tries.value]);
  if (!wanted) return { ask, missing: isTruncated(ask) ? { kind: "cut" } : null };
  if (read.value === null) return { ask, missing: { kind: "reading" } };
  if (typeof read.value === "string") {
    const again = () => {
      read.value = null;
      tries.value++;
    };
    return { ask, missing: { kind: "unread", why: read.value, again } };
  }
  const { tool_input, questions } = read.value;
  const all = { ...ask, tool_input, questions };
  return { ask: all, missing: isTruncated(all) ? { kind: "cut" } : null };
}
