/** Alert settings: what may notify the person, and when. Off until the person turns it on. */
import { computed } from "@preact/signals";
import { persistentSignal } from "../lib/storage";

/** Derived from the colour role on the wire: blocked agents, failures, and everything else that waits. */
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

export function urgencyOf(role: string): Urgency {
  return role === "urgent" ? "blocked" : role === "red" ? "failed" : "waiting";
}

/** True inside quiet hours; a span over midnight works too. `at` is "HH:MM". */
export function isQuiet({ quiet, quietFrom, quietTo }: AlertSettings, at: string): boolean {
  if (!quiet || quietFrom === quietTo) return false;
  return quietFrom < quietTo ? at >= quietFrom && at < quietTo : at >= quietFrom || at < quietTo;
}
