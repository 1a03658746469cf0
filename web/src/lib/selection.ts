/** The selected card: answer keys act on it. */
import { signal } from "@preact/signals";

export const cursor = signal<string | null>(null);
