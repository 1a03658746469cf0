/** The selected card: answer keys act on it. */
import { signal } from "@preact/signals";

export const cursor = signal<string | null>(null);

/** The session whose row has the focus, in the overview or in the Efforts view. */
export const focusedRow = signal<string | null>(null);

/** The selected card, if a key selected it. In the densest view it unfolds over its neighbours. */
export const unfolded = signal<string | null>(null);
