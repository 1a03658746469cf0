/** Alert settings: what may notify the person, and when. Off until the person turns it on. */
import { computed } from "@preact/signals";
import type { Session } from "../generated/Session";
import { persistentSignal } from "../lib/storage";

/** Derived from how the session waits: for an answer, after a failure, or for the next prompt. */
export type Urgency = "blocked" | "failed" | "waiting";
export type Loudness = "off" | "note" | "sound";

export type AlertSettings = Record<Urgency, Loudness> & {
  on: boolean;
  quiet: boolean;
  quietFrom: string;
  quietTo: string;
};

export const settings = persistentSignal<AlertSettings>("alerts", {
  on: false,
  blocked: "sound",
  failed: "note",
  waiting: "off",
  quiet: false,
  quietFrom: "22:00",
  quietTo: "07:00",
});
export const mutedSessions = persistentSignal<string[]>("muted-sessions", []);
export const mutedProjects = persistentSignal<string[]>("muted-projects", []);

export const notifyOn = computed(() => settings.value.on);

const toggled = (list: string[], item: string) =>
  list.includes(item) ? list.filter((i) => i !== item) : [...list, item];
export const toggleMuteSession = (id: string) => {
  mutedSessions.value = toggled(mutedSessions.value, id);
};
export const toggleMuteProject = (name: string) => {
  mutedProjects.value = toggled(mutedProjects.value, name);
};

/** A turn that ended with a question waits for an answer as a permission does. */
export function urgencyOf(waiting: Session["waiting"]): Urgency {
  switch (waiting?.kind) {
    case "blocks":
    case "asks":
      return "blocked";
    case "failed":
      return "failed";
    default:
      return "waiting";
  }
}

/** True inside quiet hours; a span over midnight works too. `at` is "HH:MM". */
export function isQuiet({ quiet, quietFrom, quietTo }: AlertSettings, at: string): boolean {
  if (!quiet || quietFrom === quietTo) return false;
  return quietFrom < quietTo ? at >= quietFrom && at < quietTo : at >= quietFrom || at < quietTo;
}
