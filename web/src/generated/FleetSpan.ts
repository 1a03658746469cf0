// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Group } from "./Group";
import type { Role } from "./Role";
import type { StateName } from "./StateName";

/**
 * A stretch of one state.
 */
export type FleetSpan = {
  from: string;
  to: string | null;
  group: Group;
  state: StateName;
  role: Role;
  label: string;
};
