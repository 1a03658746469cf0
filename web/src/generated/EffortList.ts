// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Effort } from "./Effort";

export type EffortList = { efforts: Array<Effort>; next_before: string | null };
