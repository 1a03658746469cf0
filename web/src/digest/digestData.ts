/** The digest: what happened while the person was away. It opens by itself after a long absence. */
import { effect, signal } from "@preact/signals";
import type { Digest } from "../generated/Digest";
import { errorText } from "../lib/errorText";
import { type Absence, absence, away } from "../lib/presence";
import { getDigest } from "../live/api";
import { connection } from "../live/stream";
import { closeOverlay, overlay } from "../overlay/overlay";
import { isWorthShowing } from "./headline";

/** The shortest absence after which the digest opens by itself. */
export const DIGEST_AWAY_MS = 30 * 60_000;

/** What the digest covers: the last long absence, or a word that the daemon understands. */
export type DigestPeriod = "away" | "today" | "yesterday" | "7d";
export const digestPeriod = signal<DigestPeriod>("today");
export const digest = signal<Digest | null>(null);
export const digestFailure = signal<string | null>(null);

/** The last absence that was long enough for a digest. */
export const longAway = signal<Absence | null>(null);

const sinceOf = (period: DigestPeriod): string =>
  period === "away" && longAway.peek() ? new Date(longAway.peek()?.from ?? 0).toISOString() : period;

export async function loadDigest(): Promise<void> {
  const period = digestPeriod.peek();
  try {
    const found = await getDigest(sinceOf(period));
    if (period !== digestPeriod.peek()) return;
    digest.value = found;
    digestFailure.value = null;
  } catch (error) {
    digestFailure.value = errorText(error);
  }
}

/** By key, palette or button: what happened since the last absence, or today. */
export function openDigest(): void {
  digestPeriod.value = longAway.peek() ? "away" : "today";
  digest.value = null;
  overlay.value = "digest";
}

const isTyping = (): boolean =>
  document.activeElement instanceof HTMLElement && /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName);

/** A dialog must not take the focus from a field that the person writes in. */
function whenNotTyping(act: () => void): void {
  if (isTyping()) addEventListener("focusout", act, { once: true });
  else act();
}

async function greet(back: Absence): Promise<void> {
  longAway.value = back;
  digestPeriod.value = "away";
  await loadDigest();
  const found = digest.peek();
  if (found && digestFailure.peek() === null && isWorthShowing(found))
    whenNotTyping(() => {
      overlay.value = "digest";
    });
}

export function startDigest(): void {
  let greeted: Absence | null = null;
  effect(() => {
    const gone = away.value;
    if (!gone || gone === greeted || connection.value.kind !== "live") return;
    greeted = gone;
    const back = absence(gone.from, gone.to, DIGEST_AWAY_MS);
    if (back) void greet(back);
  });
  addEventListener("hashchange", () => {
    if (overlay.peek() === "digest") closeOverlay();
  });
}
