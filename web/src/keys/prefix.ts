import { signal } from "@preact/signals";

/** The first key of two: the next key says where to go (g) or until when to park (p). */
export type Prefix = "g" | "p";
export const prefix = signal<Prefix | null>(null);
