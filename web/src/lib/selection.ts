/** The selected card: answer keys act on it. */
import { signal } from "@preact/signals";

export const cursor = signal<string | null>(null);

/** The session of the row of the overview or of the efforts that has the focus. */
export const focusedRow = signal<string | null>(null);

/** The selected card if it was selected by key: in the densest view it unfolds over its neighbours. */
export const unfolded = signal<string | null>(null);
