/** Which ask the answer keys belong to: one ask of the open session, else of the selected card. */
import { signal } from "@preact/signals";
import { isUnanswered } from "../ask/submission";
import { layout } from "../board/currentLayout";
import { openAsks } from "../card/headline";
import type { Ask } from "../generated/Ask";
import type { Session } from "../generated/Session";
import { openId, view } from "../lib/route";
import { focusedRow } from "../lib/selection";
import { revision, sessionSignal } from "../live/store";
import { cursor } from "./cursor";

/** The ask that had the focus last. */
export const askFocus = signal<string | null>(null);

/** The asks of a session that the person has not answered yet. */
export const unansweredAsks = (session: Session): Ask[] =>
  openAsks(session).filter((ask) => isUnanswered(ask.id));

/** Of several asks: the ask that had the focus, else the first. An answered ask gives way to the next. */
export function currentAskOf(session: Session): Ask | null {
  const open = openAsks(session);
  const waiting = unansweredAsks(session);
  const current = waiting.find((ask) => ask.id === askFocus.value) ?? waiting[0] ?? open[0] ?? null;
  return current && drawnAs(current, open);
}

/** Asks that a card shows together have their keys at the first of them. The drawer shows each by itself. */
function drawnAs(ask: Ask, open: Ask[]): Ask {
  const bunches = (openId.value === null && layout.value.bunches[ask.session_id]) || [];
  const bunch = bunches.find(({ members }) => members.some((member) => member.ask === ask.id));
  return open.find(({ id }) => id === bunch?.members[0]?.ask) ?? ask;
}

/** The session that keys act on: the open one, the selected card of the board, or that of the row with the focus. */
export const targetId = (): string | null =>
  openId.value ?? (view.value === "board" ? cursor.value : focusedRow.value);

/** True for the ask that has the key caps. An ask on a card has none while the drawer is open. */
export function isCurrentAsk(ask: Ask, inDrawer: boolean): boolean {
  if (inDrawer !== (openId.value !== null) || targetId() !== ask.session_id) return false;
  const session = sessionSignal(ask.session_id)?.value;
  // The drawer may show a session before the board has it: then this is computed again with the next update.
  if (!session) void revision.value;
  return session !== undefined && currentAskOf(session)?.id === ask.id;
}
