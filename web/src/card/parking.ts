/** Puts an idle session aside, and takes it back. */

import type { Session } from "../generated/Session";
import { postPark } from "../live/api";
import { sessionSignal } from "../live/store";
import { isOffline } from "../live/stream";
import { showError, showToast } from "../ui/toast";

export type ParkUntil = "event" | "hour" | "tomorrow";

/** In the order of the menu, with the key after p. */
export const PARK_CHOICES: { until: ParkUntil; key: string; label: string }[] = [
  { until: "event", key: "e", label: "until its next event" },
  { until: "hour", key: "h", label: "for an hour" },
  { until: "tomorrow", key: "t", label: "until tomorrow, 8:00" },
];

const HOUR_MS = 3_600_000;
const MORNING_HOUR = 8;

export const canPark = ({ waiting, parked }: Session): boolean =>
  waiting !== null && waiting.kind !== "blocks" && parked === null;

export async function park(id: string, until: ParkUntil): Promise<void> {
  const at = parkedUntil(until, new Date());
  await send(id, at ? { until: at.toISOString() } : {}, `Parked ${labelOf(until)}`);
}

export const unpark = (id: string): Promise<void> => send(id, { parked: false }, "Back on the board");

async function send(id: string, how: Parameters<typeof postPark>[1], done: string): Promise<void> {
  if (!sessionSignal(id)) return showToast("This session is no longer on the board", true);
  if (isOffline.peek()) return showToast("Not connected, so nothing was parked", true);
  try {
    await postPark(id, how);
    showToast(done);
  } catch (error) {
    showError(error);
  }
}

const labelOf = (until: ParkUntil) => PARK_CHOICES.find((choice) => choice.until === until)?.label ?? "";

/** Tomorrow begins in the morning of the person's own time zone. Null: until its next event. */
export function parkedUntil(until: ParkUntil, from: Date): Date | null {
  if (until === "event") return null;
  if (until === "hour") return new Date(from.getTime() + HOUR_MS);
  const morning = new Date(from);
  morning.setDate(from.getDate() + 1);
  morning.setHours(MORNING_HOUR, 0, 0, 0);
  return morning;
}
