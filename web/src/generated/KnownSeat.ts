// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { ChosenBy } from "./ChosenBy";
import type { FleetStatus } from "./FleetStatus";

/**
 * A lasting place, and the session that sits or last sat there.
 */
export type KnownSeat = {
  id: string;
  name: string | null;
  host: string | null;
  pane: string | null;
  tmux_socket: string | null;
  pid: number | null;
  session_id: string;
  status: FleetStatus;
  parent: string | null;
  chosen_by: ChosenBy;
  occupied: boolean;
};
