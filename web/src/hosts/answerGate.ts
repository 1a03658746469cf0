/** Whether a request of another machine can be answered on this page. */
import type { Ask } from "../generated/Ask";
import type { Session } from "../generated/Session";

/** Why the request cannot be answered here, for the person; null if it can. */
export function cannotAnswer(session: Session, ask: Ask): string | null {
  const { owner, host } = session;
  // Without an owner the session runs on this machine. A card that an older daemon stored has none either.
  if (!owner) return null;
  if (session.unreachable_since) return "Can be answered once the host is back, or in its terminal";
  if (!owner.accepts.includes("answer")) return `${host} does not accept answers from here`;
  if (!owner.shares_payloads)
    return ask.kind === "permission"
      ? "This host shares no commands, so they cannot be allowed here"
      : "This host does not share what it asks";
  return null;
}
