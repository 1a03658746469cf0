/** The first line of the digest: "14 completed, 3 wait for you, 1 failed". */
import type { Digest } from "../generated/Digest";
import type { DigestSums } from "../generated/DigestSums";

export type Part = { text: string; tone: "attn" | "fail" | null };

/** A failed turn waits for the person too, but it is counted as failed. */
export function partsOf({ total, waiting }: Digest): Part[] {
  const failed = waiting.filter(({ reason }) => reason === "failed").length;
  const wait = Math.max(0, total.waiting - failed);
  const parts: (Part | false)[] = [
    total.completed > 0 && { text: `${total.completed} completed`, tone: null },
    wait > 0 && { text: wait === 1 ? "1 waits for you" : `${wait} wait for you`, tone: "attn" },
    failed > 0 && { text: `${failed} failed`, tone: "fail" },
    total.died > 0 && { text: `${total.died} died`, tone: "fail" },
    total.ended > 0 && { text: `${total.ended} ended`, tone: null },
  ];
  const found = parts.filter((part) => part !== false);
  return found.length > 0
    ? found
    : [{ text: "Nothing was completed, and nothing waits for you", tone: null }];
}

/** Whether something was completed or waits. Otherwise the digest is not shown. */
export const isWorthShowing = ({ total }: Digest): boolean => overCount(total) + total.waiting > 0;

/** How many assignments are over, however they ended. */
export const overCount = ({ completed, ended, died }: DigestSums): number => completed + ended + died;
