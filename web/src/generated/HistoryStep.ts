// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Because } from "./Because";
import type { Role } from "./Role";
import type { StateName } from "./StateName";

export type HistoryStep = { at: string; from: StateName; to: StateName; role: Role; because: Because };
