/** The selected card: answer keys act on it. */
import { signal } from "@preact/signals";

export const cursor = signal<string | null>(null);

/** The session whose row has the focus, in a view that consists of rows. */
export const focusedRow = signal<string | null>(null);

/** The focus handlers of a row. The session is null if the row has none on the board. */
export const rowFocus = (sessionId: string | null) => ({
  onFocus: () => {
    focusedRow.value = sessionId;
  },
  onBlur: () => {
    focusedRow.value = null;
  },
});

/** The selected card, if a key selected it. In the densest view it unfolds over its neighbours. */
export const unfolded = signal<string | null>(null);
