// Generated from flightdeck-protocol by `cargo xtask gen`. Do not edit.
import type { Change } from "./Change";
import type { ChangeName } from "./ChangeName";

/**
 * One line of a subscription: `{"event", "id", "data"}`.
 */
export type ChangeFrame = { event: ChangeName; id: string; data: Change };
