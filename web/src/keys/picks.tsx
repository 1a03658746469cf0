/** Cards that the person picked to act on them together: x picks one, shift picks a range. */
import { computed, signal } from "@preact/signals";
import { giveAnswers } from "../ask/giveAnswer";
import { allPlainAsks } from "../ask/plainAsk";
import { isUnanswered } from "../ask/submission";
import { wholeBunch } from "../board/bunches";
import { layout } from "../board/currentLayout";
import type { Ask } from "../generated/Ask";
import type { Session } from "../generated/Session";
import { cursor } from "../lib/selection";
import { revision, sessionSignal } from "../live/store";
import { Icon } from "../ui/Icon";

const picked = signal<string[]>([]);

const needsYou = (id: string) => sessionSignal(id)?.peek().agent_state.group === "needs_you";

/** A card that no longer needs the person is no longer picked. */
export const picks = computed<string[]>(() => {
  void revision.value;
  return picked.value.filter(needsYou);
});

export function clearPicks(): void {
  picked.value = [];
}

/** The sessions of a card: several if it stands for asks that are alike. */
const sessionsOf = (id: string): string[] => [id, ...(wholeBunch(layout.value.bunches, id)?.folded ?? [])];

/** Returns why the card cannot be picked, or null. */
export function togglePick(id: string): string | null {
  if (!needsYou(id)) return "only a card that needs you can be picked";
  const ids = sessionsOf(id);
  picked.value = picks.value.includes(id)
    ? picks.value.filter((other) => !ids.includes(other))
    : [...new Set([...picks.value, ...ids])];
  return null;
}

/** Picks every card between the selected one and this one. */
export function pickTo(id: string): string | null {
  if (!needsYou(id)) return "only a card that needs you can be picked";
  const lane = layout.value.lanes.find((one) => one.ids.includes(id))?.ids ?? [];
  const from = cursor.value === null ? -1 : lane.indexOf(cursor.value);
  const to = lane.indexOf(id);
  const range = from < 0 ? [id] : lane.slice(Math.min(from, to), Math.max(from, to) + 1);
  picked.value = [...new Set([...picks.value, ...range.filter(needsYou).flatMap(sessionsOf)])];
  return null;
}

export const pickedSessions = (): Session[] =>
  picks.value.map((id) => sessionSignal(id)?.peek()).filter((session) => session !== undefined);

/**
 * All asks of the picked cards, or how many of the cards cannot be answered together with others. A card may have
 * several asks.
 */
export function pickedAsks(): { asks: Ask[]; others: number } {
  const all = pickedSessions().map((session) => allPlainAsks(session)?.filter((ask) => isUnanswered(ask.id)));
  return { asks: all.flatMap((asks) => asks ?? []), others: all.filter((asks) => !asks?.length).length };
}

/** y and d on picked cards. Returns why nothing was done, or null. */
export function answerPicks(decision: "allow" | "deny", event: UIEvent): string | null {
  const { asks, others } = pickedAsks();
  if (others > 0) return `${others} of ${picks.value.length} picked cannot be answered together with others`;
  giveAnswers(asks, { decision }, `${decision === "allow" ? "Allowed" : "Denied"} ${asks.length}`, event);
  clearPicks();
  return null;
}

export function PickMark({ id }: { id: string }) {
  if (!picks.value.includes(id)) return null;
  return (
    <span class="pick" title="Picked">
      <Icon name="check" small />
      <span class="sr">Picked</span>
    </span>
  );
}
