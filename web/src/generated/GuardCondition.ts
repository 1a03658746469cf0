// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { GuardOperator } from "./GuardOperator";

export type GuardCondition = { field: string; op: GuardOperator; value: unknown };
