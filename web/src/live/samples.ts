//! Cost and context over time, as far as this page has seen them: the wire carries only the values of now.
import type { Session } from "../generated/Session";
import { allSessions, loaded, onMoves } from "./store";
import { effect } from "@preact/signals";

export type Sample = { at: number; usdMicros: number | null; contextPercent: number | null };

/** Enough for a small chart; older samples thin out instead of growing. */
const SAMPLES_MAX = 120;

const samples = new Map<string, Sample[]>();

export const samplesOf = (id: string): Sample[] => samples.get(id) ?? [];

export function followSamples(): void {
  effect(() => {
    if (loaded.value) for (const held of allSessions()) take(held.peek());
  });
  onMoves((moves) => {
    for (const { after } of moves) {
      if (after.ended_at) samples.delete(after.id);
      else take(after);
    }
  });
}

function take(session: Session): void {
  const sample: Sample = { at: Date.now(), usdMicros: session.cost?.usd_micros ?? null, contextPercent: session.context?.percent ?? null };
  const list = samples.get(session.id) ?? [];
  const last = list.at(-1);
  if (last && last.usdMicros === sample.usdMicros && last.contextPercent === sample.contextPercent) return;
  list.push(sample);
  samples.set(session.id, list.length > SAMPLES_MAX ? thin(list) : list);
}

/** Every second sample of the older half goes. */
export function thin(list: Sample[]): Sample[] {
  const half = Math.floor(list.length / 2);
  return list.filter((_, i) => i >= half || i % 2 === 0);
}
