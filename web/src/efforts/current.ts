/** What an effort does now: its open window, and the session of that window if the board has it. */

import type { Tone } from "../assignment/standing";
import { appearanceOf } from "../card/appearance";
import { headline } from "../card/headline";
import type { Effort } from "../generated/Effort";
import type { Session } from "../generated/Session";
import type { WindowCard } from "../generated/WindowCard";
import { revision, sessionSignal } from "../live/store";

export const mainWindows = ({ windows }: Effort): WindowCard[] =>
  windows.filter((window) => window.agent_id === null);

export const openWindow = (effort: Effort): WindowCard | null =>
  mainWindows(effort).findLast((window) => window.ended_at === null) ?? null;

/** The session of a window. A component that calls this is drawn again when the session changes. */
export function sessionOf(window: WindowCard | null): Session | null {
  if (!window) return null;
  const held = sessionSignal(window.session_id);
  // The session may appear on the board later.
  if (!held) void revision.value;
  return held?.value ?? null;
}

/** The numbers of an open window. A call alone changes only the session, so its numbers are newer than the effort's. */
export function numbersOf(effort: Effort, session: Session | null) {
  const brief = session?.effort?.id === effort.id ? session.effort : effort;
  return { heartbeat: brief.heartbeat, heartbeat_limit: brief.heartbeat_limit, held: brief.held };
}

/** How full the context of a window is, or was when it ended. */
export function contextOf(window: WindowCard): number | null {
  const live = window.ended_at === null ? (sessionOf(window)?.context?.percent ?? null) : null;
  const percent = live ?? window.context_percent;
  return percent === null ? null : Math.round(percent);
}

/** `icon` is a name of the wire or of this page. `since` is set for what its session does. */
export type Doing = { label: string; icon: string; tone: Tone; since?: string };

const TONES: Partial<Record<ReturnType<typeof appearanceOf>, Tone>> = {
  blocked: "attn",
  asking: "attn",
  failed: "fail",
  running: "work",
};

/** What an effort does, in a few words. A request to the person comes before the heartbeat: only the person can answer it. */
export function doing(effort: Effort, session: Session | null): Doing {
  if (effort.lifecycle === "finished") return { label: "Finished", icon: "finished", tone: "good" };
  if (!openWindow(effort)) return { label: "Waits for a window", icon: "pause", tone: "quiet" };
  const tone = session ? (TONES[appearanceOf(session)] ?? "quiet") : "quiet";
  if (tone !== "attn" && numbersOf(effort, session).held)
    return { label: "Must log first", icon: "beat", tone: "quiet" };
  if (!session) return { label: "Window open", icon: "circle", tone };
  const { state, what } = headline(session);
  return {
    label: [state, what].filter(Boolean).join(", "),
    icon: session.waiting?.icon ?? session.agent_state.icon,
    tone,
    since: session.agent_state.since,
  };
}
