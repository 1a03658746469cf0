// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
/**
 * The connection of this machine to the server that joins the hosts.
 */
export type HostLink = {
  url: string;
  fleet: string;
  connected: boolean;
  hub: boolean;
  backlog: number;
  problem: string | null;
};
