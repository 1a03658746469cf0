// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { AskOutcome } from "./AskOutcome";
import type { By } from "./By";

export type Resolution = { how: AskOutcome; by: By | null; at: string; rule: string | null };
