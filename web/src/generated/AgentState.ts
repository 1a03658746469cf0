// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Group } from "./Group";
import type { Role } from "./Role";
import type { Source } from "./Source";
import type { StateName } from "./StateName";

export type AgentState = {
  group: Group;
  state: StateName;
  label: string;
  icon: string;
  role: Role;
  since: string;
  source: Source;
};
