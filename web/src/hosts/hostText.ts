/** What the page says about a host. */
import type { Host } from "../generated/Host";
import type { HostKind } from "../generated/HostKind";
import type { HostLink } from "../generated/HostLink";
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

const ACCEPTED: Record<string, string> = { answer: "answers", prompt: "prompts", interrupt: "interrupts" };

/** `container, no payloads, accepts answers` */
export function hostTerms(host: Host): string {
  const accepted = host.accepts.map((action) => ACCEPTED[action] ?? action).join(", ");
  const accepts = accepted === "" ? "look only" : `accepts ${accepted}`;
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

/** `+74.1 s`; a difference that would be `-0.0 s` has no sign. */
export function clockText(seconds: number): string {
  const text = Math.abs(seconds).toFixed(1);
  const sign = seconds < 0 ? "-" : "+";
  return `${Number(text) === 0 ? "" : sign}${text} s`;
}

/** From this backlog on a host is catching up; fewer events are on their way at any time. The daemon has the same bound. */
const CATCHING_UP_FROM = 100;

/** What is wrong with the connection of this machine; null if nothing is. */
export function linkText(link: HostLink): string | null {
  if (link.connected && link.backlog < CATCHING_UP_FROM) return null;
  const state = link.connected ? "This machine is catching up" : `No connection to ${link.url}`;
  return link.backlog > 0 ? `${state}: ${plural(link.backlog, "event")} to forward` : state;
}

/** How a host's version compares with the one of this machine; null if they are equal or one is unknown. */
export function versionMark(version: string | null, own: string | null): string | null {
  if (version === null || own === null || version === own) return null;
  const [theirs, ours] = [versionNumbers(version), versionNumbers(own)];
  const at = ours.findIndex((number, i) => number !== theirs[i]);
  if (at < 0) return "another build than here";
  return (theirs[at] ?? 0) < (ours[at] ?? 0) ? "older than here" : "newer than here";
}

/** Major, minor, patch, and whether it is a release: `0.4.0-rc.1` is older than `0.4.0`. */
function versionNumbers(version: string): number[] {
  const [numbers = "", before] = (version.split("+")[0] ?? "").split("-");
  const parts = numbers.split(".").map((part) => Number.parseInt(part, 10) || 0);
  return [0, 1, 2].map((i) => parts[i] ?? 0).concat(before === undefined ? 1 : 0);
}
