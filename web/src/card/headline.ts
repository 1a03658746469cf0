/**
 * The short line that says why a card is here, such as "Permission · Bash", "Thinking" or "Failed: rate
 * limit".
 */
import type { Ask } from "../generated/Ask";
import type { Session } from "../generated/Session";
import { now, time } from "../lib/clock";

export type Headline = { state: string; what: string | null; inAgent: string | null; rest: string | null };

const KINDS: Record<Ask["kind"], string> = {
  permission: "Permission",
  question: "Question",
  plan: "Plan",
  elicitation: "Form",
};

export function headline(session: Session): Headline {
  const { label, group } = session.agent_state;
  const ask = openAsks(session)[0];
  if (group === "needs_you" && ask) {
    return {
      state: KINDS[ask.kind] ?? label,
      what: subject(ask),
      inAgent: agentType(session, ask.agent_id),
      rest: null,
    };
  }
  const { waiting } = session;
  if (waiting?.kind === "asks" || waiting?.kind === "idle")
    return { state: waiting.label, what: null, inAgent: null, rest: null };
  const { detail, reason } = session.status;
  const lead = [detail, reason].find((text) => text && label.startsWith(`${text}: `));
  const [head, rest] = lead ? [lead, label.slice(lead.length + 2)] : splitLabel(label);
  // The label is the whole question. As a headline it would be cut after a few words.
  if (session.agent_state.state === "awaiting_input" && rest === null && reason !== null)
    return { state: KINDS.question, what: null, inAgent: null, rest: label };
  return { state: head, what: null, inAgent: null, rest };
}

/** Splits a long label ("Asks: shall I …") into a headline and the rest. */
function splitLabel(label: string): [string, string | null] {
  const colon = label.indexOf(": ");
  return colon > 0 && colon < 24 && label.length > 40
    ? [label.slice(0, colon), label.slice(colon + 2)]
    : [label, null];
}

function subject(ask: Ask): string | null {
  switch (ask.kind) {
    case "permission":
      return ask.tool_name;
    case "question":
      return ask.questions?.[0]?.header ?? null;
    case "plan":
      return null;
    case "elicitation":
      return ask.mcp_server_name;
  }
}

export const agentType = (session: Session, agentId: string | null): string | null =>
  agentId === null ? null : (session.sub_agents.find((a) => a.id === agentId)?.type ?? "subagent");

/** Whether its turn still goes on: an idle or ended session has no running turn. */
export const isInTurn = ({ status: { kind } }: Session): boolean =>
  kind === "working" || kind === "attention_needed";

/** The asks that can be answered here. */
export const openAsks = (session: Session): Ask[] =>
  session.asks.filter((ask) => ask.resolution === null && ask.answerable);

/** How long a card shows a resolved ask. */
const NEWS_MS = 60_000;

/**
 * The asks a card shows: the open ones, or the last resolved one for a minute if the session needs nothing
 * new.
 */
export function visibleAsks(session: Session): Ask[] {
  const open = openAsks(session);
  const {
    status: { kind },
    asks,
  } = session;
  if (open.length > 0 || kind === "ended" || kind === "attention_needed") return open;
  return asks.filter(({ resolution }) => resolution && now.peek() - time(resolution.at) < NEWS_MS).slice(-1);
}
