/** On a card: which machine its session belongs to, and since when that machine is unreachable. */
import type { Session } from "../generated/Session";
import { clockTime } from "../lib/format";
import { hosts, manyHosts } from "../live/hosts";
import { Icon } from "../ui/Icon";
import { HOST_ICONS } from "./hostText";

/** Drawn only if the board has sessions of several machines. */
export function HostChip({ session }: { session: Session }) {
  if (!manyHosts.value || !session.host) return null;
  const kind = hosts.value?.hosts.find(({ name }) => name === session.host)?.kind ?? "server";
  return (
    <span class="host-chip" title={`On ${session.host}`}>
      <Icon name={HOST_ICONS[kind]} small />
      <span class="clip">{session.host}</span>
    </span>
  );
}

export function Unreachable({ session }: { session: Session }) {
  if (!session.unreachable_since) return null;
  return (
    <p class="gone" title="The card keeps the last state that the host reported">
      <Icon name="offline" small />
      unreachable since {clockTime(Date.parse(session.unreachable_since))}
    </p>
  );
}
