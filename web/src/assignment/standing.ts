/** How far an assignment is, in the words and icons of the page. The wire sends the state, the reason and the outcome. */
import type { Assignment } from "../generated/Assignment";
import type { AwaitReason } from "../generated/AwaitReason";
import type { Completion } from "../generated/Completion";
import type { IconName } from "../ui/icons";

/** attn: the person must act. fail: something broke. work: an agent works. good: it is done. quiet: it is over. */
export type Tone = "attn" | "fail" | "work" | "good" | "quiet";
export type Standing = { label: string; icon: IconName; tone: Tone };

/** A turn whose last message neither asks nor reports counts as completed, with a confidence below this. */
const SURE_MIN = 0.5;

const WAITS: Record<AwaitReason, Standing> = {
  permission: { label: "Blocked", icon: "shield", tone: "attn" },
  elicitation: { label: "Blocked", icon: "form", tone: "attn" },
  question: { label: "Asks you", icon: "question", tone: "attn" },
  asked: { label: "Asks you", icon: "asks", tone: "attn" },
  plan: { label: "Plan ready", icon: "plan", tone: "attn" },
  failed: { label: "Failed", icon: "triangle", tone: "fail" },
  interrupted: { label: "Interrupted", icon: "pause", tone: "quiet" },
  stopped_by_hook: { label: "Stopped by a hook", icon: "pause", tone: "quiet" },
};

const OUTCOMES: Record<Completion, Standing> = {
  completed: { label: "Completed", icon: "finished", tone: "good" },
  ended: { label: "Ended", icon: "check", tone: "quiet" },
  died: { label: "Died", icon: "died", tone: "fail" },
};

type Progress = Pick<Assignment, "state" | "reason" | "outcome"> & Partial<Pick<Assignment, "last_intent">>;

export function standing({ state, reason, outcome, last_intent }: Progress): Standing {
  if (outcome === "completed" && last_intent && last_intent.confidence < SURE_MIN)
    return { ...OUTCOMES.completed, label: "Completed?", tone: "quiet" };
  if (outcome) return OUTCOMES[outcome] ?? OUTCOMES.ended;
  if (state === "awaiting_input")
    return (reason && WAITS[reason]) || { label: "Waits for you", icon: "asks", tone: "attn" };
  return state === "commanded"
    ? { label: "Asked", icon: "you", tone: "work" }
    : { label: "Working", icon: "spark", tone: "work" };
}

/** Compares the beginnings, because the two titles are clipped at different lengths. */
export function isSameTitle(title: string, sessionTitle: string | null): boolean {
  if (sessionTitle === null) return false;
  const plain = (text: string) => text.replace(/…$/, "").replace(/\s+/g, " ").trim();
  const [a, b] = [plain(title), plain(sessionTitle)];
  return a === b || (a.length > 20 && b.startsWith(a)) || (b.length > 20 && a.startsWith(b));
}
