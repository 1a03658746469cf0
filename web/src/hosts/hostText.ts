/** What the page says about a host. */
import type { Host } from "../generated/Host";
import type { HostKind } from "../generated/HostKind";
import { clockTime, plural } from "../lib/format";
import type { IconName } from "../ui/icons";

export const HOST_ICONS: Record<HostKind, IconName> = {
  laptop: "laptop",
  container: "container",
  server: "server",
};

/** Hosts that left on purpose do not count. */
export function hostCounts(hosts: Host[]): { reachable: number; known: number; catchingUp: number } {
  const here = hosts.filter((host) => !host.left);
  return {
    known: here.length,
    reachable: here.filter((host) => host.unreachable_since === null).length,
    catchingUp: here.filter((host) => host.caught_up_percent !== null).length,
  };
}

/** Why the cards of a host may be out of date; null if they are current. */
export function awayMark(host: Host): { text: string; bad: boolean } | null {
  if (host.left) return { text: "left the fleet", bad: false };
  if (host.unreachable_since !== null)
    return { text: `unreachable since ${clockTime(Date.parse(host.unreachable_since))}`, bad: true };
  if (host.caught_up_percent !== null)
    return {
      text: `catching up, ${host.caught_up_percent}%, ${plural(host.backlog, "event")} to come`,
      bad: false,
    };
  return null;
}

/** `container, no payloads, accepts answers` */
export function hostTerms(host: Host): string {
  const accepts = host.accepts.length === 0 ? "look only" : `accepts ${host.accepts.join(", ")}`;
  return [
    host.this && "this machine",
    host.hub && "hub",
    host.kind !== "server" && host.kind,
    host.shares_payloads ? "full" : "no payloads",
    !host.this && accepts,
  ]
    .filter(Boolean)
    .join(", ");
}

export const clockText = (seconds: number): string =>
  `${seconds < 0 ? "-" : "+"}${Math.abs(seconds).toFixed(1)} s`;
