import { signal } from "@preact/signals";

/** The dialog that is open over the page, besides the session drawer. */
export const overlay = signal<"palette" | "help" | "alerts" | "usage" | "digest" | null>(null);
export const closeOverlay = () => {
  overlay.value = null;
};
