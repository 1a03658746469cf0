// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Host } from "./Host";
import type { HostLink } from "./HostLink";

export type HostList = { hosts: Array<Host>; link: HostLink | null };
