/** Whether a request of another machine can be answered on this page. */
import type { Ask } from "../generated/Ask";
import type { Session } from "../generated/Session";

/** Why the request can be neither allowed nor denied here, for the person; null if it can. */
export function cannotAnswer(session: Session, ask: Ask): string | null {
  const { owner, host } = session;
  // Without an owner the session runs on this machine. A card that an older daemon stored has none either.
  if (!owner) return null;
  if (session.unreachable_since) return "Can be answered once the host is back, or in its terminal";
  if (!owner.accepts.includes("answer")) return `${host} does not accept answers from here`;
  if (!owner.shares_payloads && ask.kind !== "permission") return "This host does not share what it asks";
  return null;
}

/** Why the request cannot be allowed here; null if it can. A permission without its command can still be denied. */
export function cannotAllow(session: Session, ask: Ask): string | null {
  const why = cannotAnswer(session, ask);
  if (why !== null || session.owner?.shares_payloads !== false) return why;
  return "This host shares no commands: they can be denied here, but not allowed";
}
