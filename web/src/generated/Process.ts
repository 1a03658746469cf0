// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Role } from "./Role";
import type { StateName } from "./StateName";

/**
 * One of the processes that hold a session.
 */
export type Process = {
  pid: number;
  pane: string | null;
  tty: string | null;
  entrypoint: string | null;
  state: StateName;
  label: string;
  role: Role;
  shown: boolean;
};
